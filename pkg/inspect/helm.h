#pragma once

// Helm's hooks (helm.sh/docs/topics/charts_hooks): objects that an installation or upgrade creates
// before or behind the others, or not at all. Each one ends before the next is created, and what
// Helm then deletes goes when its phase ends (helm v3.18.4, pkg/action/hooks.go). Pure; any thread.

#include "pkg/json/value.h"

namespace inspect {

// In the order in which they are created.
enum class HelmPhase { kBefore, kWithOthers, kAfter, kNever };

// An object that is no hook is created with the others; so is one that may come before and after.
HelmPhase HelmPhaseOf(const json::Value& object);

// True for a hook that an installation or upgrade creates. Helm deletes the stored one before, by
// default (before-hook-creation); with another policy it leaves none.
bool IsHook(const json::Value& object);
// True for a Job or pod of a hook, whose pods are finished before the next objects are created, and
// for a hook that is deleted when all hooks of its phase have succeeded.
bool EndsAsHook(const json::Value& object);
// True if Helm deletes the hook when it has succeeded.
bool IsDeletedAfterHook(const json::Value& object);

// True if Helm manages the object.
bool IsOfHelm(const json::Value& object);

}  // namespace inspect
