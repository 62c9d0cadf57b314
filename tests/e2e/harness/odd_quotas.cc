#include "tests/e2e/harness/odd_quotas.h"

#include "tests/differential/random_quantities.h"

namespace e2e {
namespace {

constexpr std::initializer_list<const char*> kOperators = {"In", "NotIn", "Exists", "DoesNotExist"};

}  // namespace

// Inserts, deletes or replaces a character.
std::string OddQuotas::Broken(std::string text) {
  constexpr std::string_view kAlphabet = "aZ09-._/ :\n%\t";
  const std::string with(1, kAlphabet[random_.Below(kAlphabet.size())]);
  const std::size_t at = random_.Below(text.size() + 1);
  const std::size_t kind = random_.Below(3);
  if (kind != 0 && at < text.size()) text.erase(at, 1);
  if (kind != 1) text.insert(at, with);
  return text;
}

// The part again and again: about as many characters.
std::string OddQuotas::Repeated(std::string_view part, std::size_t least, std::size_t most) {
  const std::size_t length = random_.Between(least, most);
  std::string text;
  while (text.size() < length) text += part;
  text.resize(length);
  if (text.ends_with('.') || text.ends_with('-')) text.back() = 'a';
  return text;
}

std::string OddQuotas::OddName() {
  const std::string name = random_.OneOf(names_);
  const std::string domain = Repeated(random_.OneOf({"a", "a.", "abc-d.e"}), 225, 275);
  switch (random_.Below(9)) {
    case 0:
      return random_.OneOf({"requests.", "limits.", "count/", "example.com/", "kubernetes.io/"}) +
             name;
    case 1:
      return random_.OneOf({"", "requests."}) + domain + random_.OneOf({"/gpu", "/", "/a_B.c"});
    case 2:
      return "count/" + domain + random_.OneOf({"", ".", ".example.com"});
    case 3:
      return domain + random_.OneOf({".storageclass.storage.k8s.io/requests.storage",
                                     ".storageclass.storage.k8s.io/persistentvolumeclaims",
                                     ".deviceclass.resource.k8s.io/devices"});
    case 4:
      return "requests.example.com/" + Repeated("gpu-", 60, 66);
    case 5:
      return name + name;
    default:
      return Broken(name);
  }
}

json::Value OddQuotas::OddAmount() {
  const auto digits = [&](std::size_t least, std::size_t most) {
    return Repeated(random_.OneOf({"0", "9", "10"}), least, most);
  };
  switch (random_.Below(10)) {
    case 0:
      return json::Number{random_.OneOf({"0", "-1", "-0", "1.5", "1.0", "1e3", "1E30", "0.1",
                                         "1e400", "9223372036854775807", "9223372036854775808",
                                         "-9223372036854775809", "1e18"})};
    case 1:
      return OddValue();
    case 2:
      return digits(60, 68);
    case 3:
      // Other exponents keep an API server busy for minutes: it cuts them to 32 bits, and computes
      // that power of ten.
      return random_.OneOf({"1e", "0e", "1E+", "1e-", "0E-"}) +
             std::string(random_.OneOf({"9223372036854775807", "9223372036854775808", "4294967297",
                                        "000000000000000000003", "0000000000000003"})) +
             random_.OneOf({"", "", "", "i", "00000000000000000000"});
    case 4:
      return random_.OneOf({" ", "", "+", "\t"}) + differential::RandomAmount(random_) +
             random_.OneOf({" ", "", "\n", "i"});
    case 5:
      return "1." + digits(1, 64);
    default:
      return differential::RandomQuantityText(random_);
  }
}

// A value of some type.
json::Value OddQuotas::OddValue() {
  switch (random_.Below(6)) {
    case 0:
      return nullptr;
    case 1:
      return true;
    case 2:
      return json::Object{};
    case 3:
      return json::Array{"a", 1};
    case 4:
      return 7;
    default:
      return "";
  }
}

json::Value OddQuotas::OddText(std::initializer_list<const char*> texts) {
  if (random_.Percent(20)) return OddValue();
  const std::string text = random_.OneOf(texts);
  return random_.Percent(30) ? Broken(text) : text;
}

// Some names with amounts; if `odd`, one of them is odd, or the whole is.
json::Value OddQuotas::Amounts(bool odd, bool odd_names) {
  json::Object amounts;
  for (std::size_t i = random_.Between(0, 3); i > 0; --i) {
    amounts.Set(random_.OneOf(names_), std::to_string(random_.Below(100)));
  }
  if (!odd) return amounts;
  if (random_.Percent(4)) return OddValue();
  if (odd_names && random_.Percent(50)) {
    amounts.Set(OddName(), "5");
  } else {
    amounts.Set(random_.OneOf(names_), OddAmount());
  }
  return amounts;
}

json::Value OddQuotas::OddScopes() {
  if (random_.Percent(10)) return OddValue();
  if (random_.Percent(10)) return json::Array(17, "PriorityClass");
  json::Array scopes;
  for (std::size_t i = random_.Between(0, 3); i > 0; --i) {
    scopes.push_back(
        OddText({"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass",
                 "CrossNamespacePodAffinity", "VolumeAttributesClass"}));
  }
  return scopes;
}

// {<key>: one of `keys`, operator, values}, of which some part is missing or odd.
json::Value OddQuotas::OddExpression(const char* key, std::initializer_list<const char*> keys) {
  json::Object expression;
  if (random_.Percent(95)) expression.Set(key, OddText(keys));
  if (random_.Percent(95)) expression.Set("operator", random_.OneOf(kOperators));
  if (random_.Percent(10)) expression.Set("operator", OddText({"Gt", "in"}));
  json::Array values;
  if (random_.Percent(60)) values.push_back("a");
  if (random_.Percent(30)) values.push_back(OddText({"a", "high", "A_1"}));
  if (random_.Percent(5)) values.push_back(Repeated("a", 62, 64));
  if (random_.Percent(50)) expression.Set("values", std::move(values));
  if (random_.Percent(5)) expression.Set("values", OddValue());
  return expression;
}

json::Value OddQuotas::OddScopeSelector() {
  if (random_.Percent(5)) return OddValue();
  json::Value selector;
  json::Array expressions;
  for (std::size_t i = random_.Percent(20) ? 2 : 1; i > 0; --i) {
    expressions.push_back(
        random_.Percent(5)
            ? OddValue()
            : OddExpression("scopeName", {"PriorityClass", "PriorityClass", "VolumeAttributesClass",
                                          "BestEffort", "Terminating"}));
  }
  selector.Make({"matchExpressions"}) = random_.Percent(5) ? OddValue() : std::move(expressions);
  return selector;
}

json::Value OddQuotas::OddNamespaceSelector() {
  if (random_.Percent(5)) return OddValue();
  const std::string domain = Repeated(random_.OneOf({"a", "a.", "abc-d.e"}), 250, 256);
  const std::vector<std::string> keys = {"team", "example.com/team", "x-1.example.com/a.b",
                                         domain + "/team", "a/" + Repeated("team_", 61, 65)};
  const std::string key = random_.OneOf(keys);
  json::Value selector;
  if (random_.Percent(50)) {
    selector.Make({"matchLabels", random_.Percent(50) ? key : Broken(key)}) =
        OddText({"a", "", "A_1", "-"});
    if (random_.Percent(5)) selector.Make({"matchLabels"}) = OddValue();
    return selector;
  }
  json::Array expressions;
  expressions.push_back(OddExpression("key", {key.c_str(), "team"}));
  selector.Make({"matchExpressions"}) = random_.Percent(5) ? OddValue() : std::move(expressions);
  return selector;
}

json::Value OddQuotas::Spec() {
  json::Value spec = json::Object{{"hard", Amounts(random_.Percent(60))}};
  switch (random_.Below(5)) {
    case 0:
    case 1:
      spec.Make({"scopes"}) = OddScopes();
      break;
    case 2:
      spec.Make({"scopeSelector"}) = OddScopeSelector();
      break;
    default:
      break;
  }
  return spec;
}

json::Value OddQuotas::ClusterSpec() {
  json::Value spec = Spec();
  switch (random_.Below(8)) {
    case 0:
    case 1:
      spec.Make({"namespaceSelector"}) = OddNamespaceSelector();
      break;
    case 2:
      spec.Make({"parent"}) = OddText({"company", "a.b", "tried", "A", ""});
      break;
    case 3:
      spec.Make({"enforcement"}) = OddText({"Deny", "Warn", "Audit", "Maybe"});
      break;
    case 4:
      spec.Make({"hard"}) = json::Object{{"requests.cpu", "5"}};
      spec.Make({"guaranteed", random_.OneOf({"requests.cpu", "requests.cpu", "cpu"})}) =
          OddAmount();
      break;
    case 5:
      spec.Make({"scopes"}) = json::Array{OddText({"example.com/tier", "a.b/T_1", "tier"})};
      break;
    case 6:
      spec.Make({"scopeSelector", "matchExpressions"}) =
          json::Array{OddExpression("scopeName", {"example.com/tier", "example.com/tier", "a/b"})};
      break;
    default:
      break;
  }
  return spec;
}

json::Value OddQuotas::Status() {
  const bool used = random_.Percent(50);
  return json::Object{{"hard", Amounts(!used, false)}, {"used", Amounts(used, false)}};
}

json::Value OddQuotas::ClusterStatus() {
  json::Value status = Status();
  switch (random_.Below(3)) {
    case 0:
      status.Make({"available"}) = Amounts(true, false);
      break;
    case 1:
      status.Make({"largest"}) =
          json::Array{json::Object{{"namespace", "a"}, {"used", Amounts(true, false)}}};
      break;
    default:
      break;
  }
  return status;
}

json::Value OddQuotas::AppliedStatus() {
  json::Value status = json::Object{{"hard", Amounts(random_.Percent(30))},
                                    {"used", Amounts(random_.Percent(20), false)},
                                    {"enforcement", "Deny"}};
  switch (random_.Below(5)) {
    case 0:
      status.Make({"scopeSelector"}) = OddScopeSelector();
      break;
    case 1:
      status.Make({"enforcement"}) = OddText({"Deny", "Warn", "Audit", "Maybe"});
      break;
    case 2:
      status.Make({"parent"}) = OddText({"company", "a.b", "A"});
      break;
    default:
      status.Make(
          {random_.OneOf({"available", "usedInNamespace", "guaranteed", "guaranteedBelow"})}) =
          Amounts(true, false);
      break;
  }
  return status;
}

}  // namespace e2e
