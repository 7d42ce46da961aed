// Style and script of the status page. Who changes one changes its hash too; the test
// says what it is to be.
#include "health/status_page.h"

namespace health {
namespace {

constexpr char kStyle[] = R"css(
:root { color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1b2330; --quiet: #556070; --line: #dfe3e8;
  --accent: #1d5fbf; --good: #13693a; --good-back: #e2f4e9; --warn: #7d4e00; --warn-back: #fdf0d3;
  --bad: #a3161d; --bad-back: #fde5e5; --track: #e9ecf0;
  --live: #2a7f9e; --draining: #e08a1e; --foreign: #8a6fb0; --reserved: #8894a3; }
@media (prefers-color-scheme: dark) { :root {
  --page: #10151c; --card: #181f29; --ink: #e4e9f0; --quiet: #9aa7b8; --line: #2b3542;
  --accent: #7fb2ff; --good: #7ddba4; --good-back: #123322; --warn: #f3c668; --warn-back: #392b0c;
  --bad: #ff9c9c; --bad-back: #431a1d; --track: #2a3441;
  --live: #4db1d3; --draining: #f0a23c; --foreign: #b39ad9; --reserved: #75839a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
header, main, footer { max-width: 1180px; margin: 0 auto; padding: 0 20px; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; padding-top: 18px; }
h1 { font-size: 20px; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 16px; margin: 0; }
h3 { font-size: 15px; margin: 0; overflow-wrap: anywhere; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 14px 16px; margin: 14px 0; }
.top { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 10px; margin-bottom: 8px; }
.quiet { color: var(--quiet); }
p { margin: 4px 0; overflow-wrap: anywhere; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, .id { font: 13px/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono",
  monospace; overflow-wrap: anywhere; unicode-bidi: isolate; }
.text { unicode-bidi: isolate; overflow-wrap: anywhere; }
.pill { display: inline-block; border-radius: 999px; padding: 1px 10px; font-size: 13px;
  font-weight: 600; overflow-wrap: anywhere; background: var(--track); color: var(--ink); }
.pill.good { background: var(--good-back); color: var(--good); }
.pill.warn { background: var(--warn-back); color: var(--warn); }
.pill.bad { background: var(--bad-back); color: var(--bad); }
#freshness { margin-left: auto; font-size: 13px; color: var(--quiet);
  font-variant-numeric: tabular-nums; }
#freshness.bad { color: var(--bad); font-weight: 600; }
.alarm { border-color: var(--bad); background: var(--bad-back); color: var(--bad); }
#summary { padding: 0; background: none; border: 0; }
dl { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); gap: 10px;
  margin: 0; }
dl > div { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 10px 14px; min-width: 0; }
dt { font-size: 13px; color: var(--quiet); }
dd { margin: 0; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere; }
dd small { display: block; font-size: 13px; font-weight: 400; color: var(--quiet); }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { text-align: left; font-size: 12.5px; font-weight: 600; color: var(--quiet); padding: 4px 10px
  4px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { padding: 7px 10px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
tbody tr:last-child > * { border-bottom: 0; }
th.number, td.number { text-align: right; white-space: nowrap; }
td small { display: block; color: var(--quiet); font-size: 13px; }
td.when { white-space: nowrap; }
td.name { min-width: 188px; }
td.what { min-width: 196px; }
td.bar-cell { width: 36%; }
.id[title] { white-space: nowrap; }
.good-text { color: var(--good); } .warn-text { color: var(--warn); font-weight: 600; }
.bad-text { color: var(--bad); font-weight: 600; }
.bar { display: block; width: 100%; min-width: 160px; height: 14px; border-radius: 4px;
  background: var(--track); margin-top: 3px; }
.live { fill: var(--live); } .draining { fill: var(--draining); }
.foreign { fill: var(--foreign); } .reserved { fill: url(#hatch); }
#hatch path { stroke: var(--reserved); stroke-width: 3; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 13px; color: var(--quiet);
  margin: 0; padding: 0; list-style: none; }
.legend svg { width: 12px; height: 12px; border-radius: 3px; vertical-align: -1px;
  margin-right: 5px; background: var(--track); }
.balancer > .quiet { font-size: 13px; }
.balancer + .balancer { margin-top: 16px; padding-top: 14px; border-top: 1px solid var(--line); }
.loops { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr));
  gap: 0 18px; list-style: none; margin: 0; padding: 0; }
.loops li { display: flex; justify-content: space-between; gap: 10px; padding: 3px 0;
  border-bottom: 1px solid var(--line); min-width: 0; }
.loops li > span:first-child { overflow-wrap: anywhere; min-width: 0; }
.loops li > span:last-child { white-space: nowrap; font-variant-numeric: tabular-nums; }
footer { padding-bottom: 30px; font-size: 13px; color: var(--quiet); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 1100px) { dl { grid-template-columns: repeat(3, minmax(0, 1fr)); } }
@media (max-width: 900px) {
  header, main, footer { padding-left: 12px; padding-right: 12px; }
  #freshness { margin-left: 0; width: 100%; }
  dl { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 8px; }
  dl > div { padding: 8px 10px; }
  dd { font-size: 17px; }
  table, tbody, tr, td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tbody tr { padding: 8px 0; border-bottom: 1px solid var(--line); }
  tbody tr:last-child { border-bottom: 0; padding-bottom: 0; }
  td, td.number, td.when, td.name, td.what { display: grid; grid-template-columns: 92px minmax(0, 1fr); gap: 0 8px;
    min-width: 0; text-align: left; white-space: normal; padding: 2px 0; border-bottom: 0; }
  td::before { content: attr(data-label); color: var(--quiet); font-size: 13px; }
  td > * { grid-column: 2; }
  td.bar-cell { display: block; width: auto; padding-top: 4px; }
  td.bar-cell::before { display: none; }
  td.counts { display: inline-block; width: auto; padding: 0 14px 2px 0; }
  td.counts::before { margin-right: 5px; }
  td.empty { display: none; }
}
@media (prefers-reduced-motion: no-preference) { .pill, .bar rect { transition: all .3s; } }
)css";

constexpr char kScript[] = R"js(
(() => {
  "use strict";
  const every = 2000;
  const freshness = document.getElementById("freshness");
  const selects = (part) => {
    const selection = getSelection();
    return selection && !selection.isCollapsed && part.contains(selection.anchorNode);
  };
  const put = (page) => {
    if (!page.getElementById("summary")) throw new Error("it is no status page");
    document.title = page.title;
    for (const part of page.querySelectorAll("[data-part]")) {
      const here = document.getElementById(part.id);
      if (!here || here.outerHTML === part.outerHTML || selects(here)) continue;
      here.replaceWith(document.importNode(part, true));
    }
  };
  const update = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(location.href, {cache: "no-store",
                                                   signal: AbortSignal.timeout(5000)});
        if (!answer.ok) throw new Error("HTTP " + answer.status);
        put(new DOMParser().parseFromString(await answer.text(), "text/html"));
        freshness.className = "";
        freshness.textContent = "as of " + document.getElementById("summary").dataset.at +
                                ", updated every 2 s";
      } catch (error) {
        freshness.className = "bad";
        freshness.textContent = "no answer (" + error.message + "): what is shown is of " +
                                document.getElementById("summary").dataset.at;
      }
    }
    setTimeout(update, every);
  };
  setTimeout(update, every);
})();
)js";

constexpr char kPolicy[] =
    "default-src 'none'; style-src 'sha256-Bkethyryy+eR+ia/Jqrp31bR+svEqdzOjySAiY5loDQ='; "
    "script-src 'sha256-gHJIaQLx0okzAtvc4hGFfghrEW4GYl0wy7g2OT/nEoM='; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace

absl::string_view StatusPageStyle() { return kStyle; }
absl::string_view StatusPageScript() { return kScript; }
absl::string_view StatusPagePolicy() { return kPolicy; }

}  // namespace health
