#include "apps/cli/why_page.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace tfyarn::cli {
namespace {

// What comes from the run is data: the script shows it as text, so that no name in a scenario can
// become markup.
constexpr std::string_view kBefore = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>tfsim why</title><style>
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem;color:#1b1f24;background:#fff}
h1{font-size:1.3rem}svg{width:100%;height:auto;border:1px solid #d0d7de;border-radius:6px}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2rem .6rem;vertical-align:top;border-top:1px solid #d0d7de}
td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}tr.well{background:#dafbe1}tr.lost{background:#ffebe9}
.bar{background:#cf222e;height:.7rem}.rail{background:#eaeef2;width:8rem}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}svg,td,th{border-color:#30363d}tr.well{background:#12361f}tr.lost{background:#4a1a1d}.rail{background:#21262d}}
</style></head><body><h1 id="title"></h1><p id="failure"></p><p id="answer"></p>
<svg id="chart" viewBox="0 0 1000 240" role="img" aria-label="share of futures that fail, over time"></svg>
<table><thead><tr><th>after</th><th>futures that fail</th><th></th><th>what happened</th></tr></thead><tbody id="rows"></tbody></table>
<script type="application/json" id="data">)";
constexpr std::string_view kAfter = R"(</script><script>
const d=JSON.parse(document.getElementById("data").textContent);
const put=(id,text)=>{document.getElementById(id).textContent=text};
put("title","Where "+d.scenario+", seed "+d.seed+", was lost");put("failure",d.failure);put("answer",d.answer);
const rows=document.getElementById("rows");
for(const m of d.moments){const tr=document.createElement("tr");
const cell=(text,name)=>{const td=document.createElement("td");td.textContent=text;if(name)td.className=name;tr.append(td);return td};
cell(m.at_seconds.toFixed(3)+" s","n");cell(m.failed+" of "+m.futures,"n");
const rail=document.createElement("div"),bar=document.createElement("div");rail.className="rail";bar.className="bar";
bar.style.width=100*m.failed/Math.max(1,m.futures)+"%";rail.append(bar);cell("").append(rail);
const events=cell("");for(const e of m.events){const p=document.createElement("div");p.textContent=e;events.append(p)}
if(m.at_seconds===d.could_go_well_after_seconds)tr.className="well";
if(m.at_seconds===d.lost_at_seconds)tr.className="lost";rows.append(tr)}
const svg=document.getElementById("chart"),ns="http://www.w3.org/2000/svg";
const draw=(kind,at,text)=>{const e=document.createElementNS(ns,kind);for(const k in at)e.setAttribute(k,at[k]);if(text!==undefined)e.textContent=text;svg.append(e)};
const end=Math.max(1e-9,...d.moments.map(m=>m.at_seconds));
const x=t=>60+920*t/end,y=s=>200-170*s;
for(const s of[0,.5,1]){draw("line",{x1:60,x2:980,y1:y(s),y2:y(s),stroke:"#8c959f","stroke-width":.5});
draw("text",{x:52,y:y(s)+4,"text-anchor":"end","font-size":13,fill:"currentColor"},100*s+" %")}
draw("text",{x:60,y:225,"font-size":13,fill:"currentColor"},"0 s");
draw("text",{x:980,y:225,"text-anchor":"end","font-size":13,fill:"currentColor"},end.toFixed(1)+" s");
let path="";for(const m of d.moments){const s=m.failed/Math.max(1,m.futures);
path+=path?"H"+x(m.at_seconds)+"V"+y(s):"M"+x(m.at_seconds)+" "+y(s)}
draw("path",{d:path,fill:"none",stroke:"#cf222e","stroke-width":2});
</script></body></html>
)";

/// Nothing in it ends the element that holds it.
std::string Data(const nlohmann::ordered_json& document) {
  std::string text;
  for (const char c :
       document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string WhyPage(const nlohmann::ordered_json& document) {
  return std::string(kBefore) + Data(document) + std::string(kAfter);
}

}  // namespace tfyarn::cli
