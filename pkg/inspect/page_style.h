#pragma once

// The style of the report and the script that sorts its tables, embedded in the page.

#include <string_view>

namespace inspect {

inline constexpr std::string_view kPageStyle = R"(
:root{color-scheme:light dark;--fg:#1b2330;--dim:#5d6879;--bg:#fff;--card:#f4f6f9;--line:#dde2ea;
--good:#2c7d4f;--near:#b26a00;--full:#c0322b;--track:#e3e7ee}
@media(prefers-color-scheme:dark){:root{--fg:#e4e8ef;--dim:#98a3b5;--bg:#12161d;--card:#1b212b;
--line:#2c3441;--good:#4cb47b;--near:#e0a040;--full:#f0645b;--track:#2a313d}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:70rem;padding:1.2rem;background:var(--bg);color:var(--fg);
font:15px/1.45 system-ui,sans-serif}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:1.8rem 0 .5rem}
p{margin:.3rem 0;color:var(--dim)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.7rem;margin:1rem 0}
.cards div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;
padding:.6rem .8rem}
.cards b{display:block;font-size:1.5rem;font-variant-numeric:tabular-nums}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
th{position:sticky;top:0;background:var(--bg);text-align:left;cursor:pointer;user-select:none;
font-size:.8rem;color:var(--dim);white-space:nowrap}
th[aria-sort=ascending]:after{content:" ▲"}th[aria-sort=descending]:after{content:" ▼"}
th,td{padding:.28rem .6rem .28rem 0;border-bottom:1px solid var(--line);overflow-wrap:break-word}
td:first-child{overflow-wrap:anywhere}
.n,.l :nth-last-child(-n+5):is(td,th):not(:nth-last-child(2)){text-align:right;
white-space:nowrap}
i,td.g:before,td.w:before,td.f:before{content:"";display:block;height:.55rem;min-width:4rem;
border-radius:.3rem;background:linear-gradient(90deg,var(--c) var(--p),var(--track) var(--p))}
.g{--c:var(--good)}.w{--c:var(--near)}.f{--c:var(--full)}
b.w{color:var(--near)}b.f{color:var(--full)}
details{border-bottom:1px solid var(--line)}summary{display:flex;gap:.8rem;align-items:center;
padding:.35rem 0;cursor:pointer}summary:before{content:"▸"}[open]>summary:before{content:"▾"}
summary span{flex:1;overflow-wrap:anywhere}summary i{width:7rem}
summary b{width:4rem;text-align:right;font-weight:400;font-variant-numeric:tabular-nums}
details table{margin:0 0 .8rem}
input{width:100%;padding:.45rem .6rem;margin:.3rem 0;font:inherit;color:inherit;
background:var(--card);border:1px solid var(--line);border-radius:.4rem}
@media(max-width:600px){body{padding:.8rem;font-size:14px}table{font-size:13px}
th{font-size:.7rem}th,td{padding-right:.35rem}
.l :nth-last-child(-n+2):is(td,th){display:none}
summary i{width:3.5rem}}
)";

// Sorts quantities by value.
inline constexpr std::string_view kPageScript = R"(
const U={n:1e-9,u:1e-6,m:1e-3,k:1e3,M:1e6,G:1e9,T:1e12,P:1e15,E:1e18,Ki:2**10,Mi:2**20,Gi:2**30,
Ti:2**40,Pi:2**50,Ei:2**60};
const V=t=>{const m=/^(-?[\d.]+(?:[eE]-?\d+)?)([a-zA-Z]*)%?$/.exec(t);
return t=='over'?Infinity:m?m[1]*(U[m[2]]||1):NaN};
document.addEventListener('click',e=>{const h=e.target.closest('th');if(!h)return;
const t=h.closest('table'),k=h.cellIndex,d=h.ariaSort=='descending'?1:-1;
for(const o of t.querySelectorAll('th'))o.removeAttribute('aria-sort');
h.ariaSort=d>0?'ascending':'descending';
const key=r=>{const c=r.cells[k],s=c.textContent.trim()||c.style.getPropertyValue('--p');
return[V(s),s]};
const b=t.tBodies[0];b.append(...[...b.rows].map(r=>[key(r),r]).sort(([[a,s]],[[c,u]])=>
d*(isNaN(a)||isNaN(c)?s.localeCompare(u):a<c?-1:a>c?1:0)).map(x=>x[1]))});
const F=document.querySelector('input');if(F)F.addEventListener('input',()=>{
for(const x of document.querySelectorAll('[data-n]'))x.hidden=!x.dataset.n.includes(F.value)});
)";

}  // namespace inspect
