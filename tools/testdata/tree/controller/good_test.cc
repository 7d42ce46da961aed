#include <mutex>

#include "drain/plan.h"
#include "sim/world.h"
