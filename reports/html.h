// The report of a run as one HTML file that needs nothing else: page assets with two JSON documents
// put into them.
//
// The page is a static shell; everything that comes from a run is data in it, and its script shows
// data as text. So no name in a scenario can become markup, and nothing is pasted together here but
// three assets and two documents.
#pragma once

#include <string>
#include <string_view>

#include "core/model/error.h"

namespace tfyarn::reports {

/// `page` has each of {{style}}, {{script}}, {{result}} and {{report}} once: the last two inside
/// <script type="application/json"> elements.
struct Assets {
  std::string_view page;
  std::string_view style;
  std::string_view script;
};

/// reports/assets as they were when this was built.
[[nodiscard]] const Assets& BuiltInAssets();

/// `result`: the document `tfsim.result/v1` or `tfsim.ensemble/v1`. `report`: what the page draws
/// besides, a JSON object
/// (`{}` for an ensemble). Both as JSON text, trusted to be JSON and in nothing else.
/// Errors: kInvalidArgument naming the marker that the page lacks, or an asset that would end its
/// own element.
[[nodiscard]] Expected<std::string> Html(std::string_view result, std::string_view report,
                                         const Assets& assets = BuiltInAssets());

/// JSON text that means the same and cannot end or open an element of the page around it.
[[nodiscard]] std::string EmbeddableJson(std::string_view json);

}  // namespace tfyarn::reports
