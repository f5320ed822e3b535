"""The style sheet of a report: phone, desk and paper, light and dark."""

_LIGHT = ["#0b62a8", "#c2410c", "#0f7b55", "#8b3fa8", "#7d6000", "#00707f", "#b0275b", "#4b5563"]
_DARK = ["#6cb1f2", "#f59a63", "#5ecb9c", "#cf9bea", "#dcc05a", "#5cc9da", "#f285ac", "#b6bdc7"]


def _names(colours: list[str]) -> str:
    return "".join(f"--c{i}:{colour};" for i, colour in enumerate(colours))


_DARK_THEME = (
    "--page:#141619;--ink:#e7e7e4;--quiet:#a4a9b0;--line:#33373d;--shade:#1c1f23;--good:#74d6a0;--wash:#16291f;"
    "--warn:#f0b866;--link:#8fbcf7;" + _names(_DARK)
)
_LIGHT_THEME = (
    "--page:#ffffff;--ink:#1b1d20;--quiet:#5b6168;--line:#e2e3e0;--shade:#f6f6f4;--good:#0a6a3c;--wash:#eff8f2;"
    "--warn:#8a4b00;--link:#0b57a4;" + _names(_LIGHT)
)
_SERIES = "".join(f".c{i}{{stroke:var(--c{i})}}.t{i}{{fill:var(--c{i})}}" for i in range(len(_LIGHT)))

_CHARTS = """
svg{font:10.5px system-ui,sans-serif;font-variant-numeric:tabular-nums}
svg text{fill:var(--quiet)}
svg .end{text-anchor:end}
svg .mid{text-anchor:middle}
svg text.label{font-weight:600}
svg path,svg g{fill:none}
svg .level{stroke:var(--line);stroke-width:1}
svg .rule{stroke:var(--quiet);stroke-width:1;stroke-dasharray:3 3}
svg .line{stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}
svg .dots{stroke-width:5;stroke-linecap:round}
svg .rings{stroke-width:1.6}
"""
# Of a picture that stands alone: the same charts on the page's own colour.
CHART_STYLE = (
    f":root{{color-scheme:light dark;{_LIGHT_THEME}}}"
    f"@media screen and (prefers-color-scheme:dark){{:root{{{_DARK_THEME}}}}}"
    f"{_CHARTS}{_SERIES}"
    "svg .page{fill:var(--page)}svg text.heading{fill:var(--ink);font-weight:600;font-size:12px}"
)
STYLE = (
    f"""
:root{{color-scheme:light dark;{_LIGHT_THEME}}}
@media screen and (prefers-color-scheme:dark){{:root{{{_DARK_THEME}}}}}
"""
    + """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--page);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:78rem;margin:0 auto;padding:3rem clamp(1rem,4vw,3rem) 6rem}
h1,h2,h3,h4,h5{line-height:1.2;font-weight:650;letter-spacing:-.01em;text-wrap:balance;overflow-wrap:anywhere}
h1{font-size:clamp(1.7rem,4.5vw,2.5rem);margin:0 0 1rem;letter-spacing:-.025em}
h2{font-size:1.5rem;margin:4.5rem 0 1rem;padding-top:1.25rem;border-top:2px solid var(--ink)}
h3{font-size:1.15rem;margin:2.75rem 0 .35rem}
h4{font-size:1rem;margin:2.25rem 0 .25rem}
h5{font-size:.9rem;margin:1.25rem 0 .5rem}
h2 code,h3 code{font-weight:400;letter-spacing:0}
.label{margin-left:.7em}
p,dl,ul{margin:0 0 1rem;max-width:46rem;overflow-wrap:anywhere}
ul{padding-left:1.2rem}
li{margin:.3rem 0}
code{font:.84em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--quiet)}
a{color:var(--link);text-underline-offset:.15em;text-decoration-thickness:1px}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
small{font-size:.78rem;color:var(--quiet)}
.lede{font-size:1.08rem}
.what{color:var(--quiet);margin-bottom:.9rem}
.cost{font-size:.85rem;max-width:60rem;color:var(--quiet);margin:0 0 .4rem}
dl{display:grid;gap:.3rem;max-width:60rem;font-size:.88rem;margin-top:1.75rem}
dl div{display:grid;grid-template-columns:6.5rem 1fr;gap:.75rem}
dt{color:var(--quiet)}
dd{margin:0;overflow-wrap:anywhere}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.scroll{position:relative;overflow-x:auto;margin:0 0 1rem;max-width:100%}
table{border-collapse:separate;border-spacing:0;font-variant-numeric:tabular-nums lining-nums;font-size:.92rem;line-height:1.35}
th,td{padding:.6rem .8rem;text-align:right;vertical-align:top;border-bottom:1px solid var(--line);white-space:nowrap}
thead th,thead td{vertical-align:bottom;font-size:.8rem;font-weight:600;border-bottom:1px solid var(--ink)}
tr>:first-child{text-align:left;padding-left:0}
tbody th{font-weight:600}
.grid thead th{white-space:normal;min-width:6.4rem}
.grid tr>:not(:first-child){padding-inline:.65rem}
.grid td small{display:block;line-height:1.4}
.grid td b{font-size:1rem;font-weight:600}
.grid th div{margin-top:.25rem;display:flex;gap:.5em;align-items:center;font-weight:400}
.grid tbody tr>:first-child,.grid thead tr>:first-child{position:sticky;left:0;z-index:1;background:var(--page)}
.grid [scope=rowgroup]{padding-top:1.5rem;font-size:.8rem;font-weight:600;color:var(--quiet)}
.grid [scope=rowgroup] span{position:sticky;left:0}
.published th,.published td{color:var(--quiet);font-weight:400;padding-block:.35rem}
.grid td.good{background:var(--wash)}
.mark{margin-left:.3em;font-weight:700;color:var(--warn)}
.good b,.good .mark{color:var(--good)}
.none span,.grid td.smoke b{color:var(--quiet);font-weight:400;font-style:italic}
.chip{display:inline-block;font-size:.72rem;font-weight:600;line-height:1.5;padding:0 .55em;margin-right:.35em;border-radius:1em;
border:1px solid var(--quiet);color:var(--ink);white-space:nowrap}
.chip.smoke{border-style:dashed;border-color:var(--warn);color:var(--warn)}
.chip.paper{background:var(--ink);border-color:var(--ink);color:var(--page)}
.contents{width:100%;max-width:60rem}
.contents th>code{display:block;margin-top:.1rem}
.contents a code{color:inherit;font-size:.9em}
.contents tbody th{font-weight:400;white-space:normal}
.contents tr>:last-child{text-align:left;padding-right:0}
.contents thead th,.list thead th{font-weight:600}
.list{font-size:.82rem}
.list th,.list td{text-align:left;padding:.35rem .8rem;font-weight:400}
.list tr>:first-child{padding-left:0}
.list td:nth-child(2){white-space:normal;min-width:9rem}
details{margin:.75rem 0 1rem}
summary{cursor:pointer;font-size:.88rem;color:var(--link);padding:.3rem 0}
details[open]>summary{margin-bottom:.5rem}
.charts{display:grid;gap:1.5rem 1.75rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,15.5rem),1fr))}
.charts.wide{grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));margin-top:1.5rem}
.charts.wide figure{max-width:34rem}
.grid th small.about{display:block;font-weight:400;max-width:13rem;white-space:normal}
.charts.narrow{grid-template-columns:repeat(auto-fill,minmax(min(46%,9.5rem),1fr));gap:1rem}
figure{margin:0;max-width:25rem;break-inside:avoid}
figcaption{font-size:.84rem;font-weight:600;margin-bottom:.2rem;overflow-wrap:anywhere}
svg{display:block;width:100%;height:auto;overflow:visible}
.narrow svg .dots{stroke-width:3;stroke-opacity:.6}
@media (max-width:40rem){
main{padding-top:1.75rem}
h2{margin-top:3.25rem}
th,td{padding:.5rem .5rem}
dl div{grid-template-columns:1fr;gap:0}
.contents{font-size:.85rem}
.grid tbody th{min-width:5.6rem;max-width:8.5rem;white-space:normal;overflow-wrap:break-word}
.grid th div{flex-wrap:wrap;row-gap:.1rem}
}
@media print{
@page{size:landscape;margin:13mm}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
html{font-size:10px}
main{max-width:none;padding:0}
a{color:inherit}
h2{margin-top:2.5rem}
h2,h3,h4,h5,.what{break-after:avoid}
tr,.grid,figure,dl,li{break-inside:avoid}
thead{display:table-header-group}
.scroll{overflow:visible}
.grid tr>:first-child{position:static!important}
.grid tr>:not(:first-child){padding:.4rem .45rem}
.grid thead th{min-width:0}
.list td,.list th{white-space:normal;overflow-wrap:anywhere}
.charts{grid-template-columns:repeat(4,1fr)}
.charts.narrow{grid-template-columns:repeat(9,1fr);gap:1rem .6rem}
#runs,.more,summary{display:none}
details::details-content{content-visibility:visible;height:auto}
}
"""
    + _CHARTS
    + _SERIES
    + "\n"
)
