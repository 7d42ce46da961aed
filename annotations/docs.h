// docs/annotations.md, made from the table.
#ifndef OCI_BACKEND_DRAIN_ANNOTATIONS_DOCS_H_
#define OCI_BACKEND_DRAIN_ANNOTATIONS_DOCS_H_

#include <string>

namespace annotations {

// The whole text in Markdown.
std::string MakeDocs();

}  // namespace annotations

#endif  // OCI_BACKEND_DRAIN_ANNOTATIONS_DOCS_H_
