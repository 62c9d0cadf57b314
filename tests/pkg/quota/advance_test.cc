#include "pkg/quota/advance.h"
