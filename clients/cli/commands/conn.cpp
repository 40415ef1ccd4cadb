#include "cli/commands/commands.h"
