#include "base/good.h"

namespace base {

// Braces in "strings {" and 'characters' do not count.
int Good(const std::string& text) { return text == "}{" || text[0] == '{' ? 1 : 2; }

}  // namespace base
