(() => {
  "use strict";
  const all = [...document.querySelectorAll("section")], pick = document.querySelector("#pick");
  const narrow = matchMedia("(max-width: 860px)");
  let now = 0, current = null;
  const section = () => all[now];
  const panes = () => section().querySelector(".panes");

  function tab(code) {
    panes()?.classList.toggle("code", code);
    document.querySelectorAll(".tabs button").forEach(b =>
      b.setAttribute("aria-pressed", String((b.dataset.tab === "code") === code)));
  }
  function isCode(row) { return !!row.closest(".asm"); }
  function bring(row) {
    const pane = row.closest(".pane");
    pane.scrollTop += row.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
  }
  /* Marks a row and everything that belongs to the same line, and brings both into view. */
  function select(row, both) {
    if (current) current.classList.remove("cur");
    section().querySelectorAll(".sel").forEach(r => r.classList.remove("sel"));
    current = row;
    row.classList.add("cur");
    const line = row.dataset.l;
    if (line) {
      section().querySelectorAll(`[data-l="${line}"]`).forEach(r => r.classList.add("sel"));
      const other = section().querySelector((isCode(row) ? ".source" : ".asm") + ` [data-l="${line}"]`);
      if (other && !(narrow.matches && !both)) bring(other);
    }
  }
  function go(row) {
    if (narrow.matches) tab(isCode(row));
    select(row);
    bring(row);
  }
  function hot() {
    const where = panes()?.matches(".one, .code") || (current && isCode(current)) ||
      !section().querySelector(".source .h3, .source .h2") ? ".asm" : ".source";
    return [...section().querySelectorAll(`${where} .h3, ${where} .h2`)];
  }
  function step(by) {
    const rows = hot();
    if (!rows.length) return;
    const at = rows.indexOf(current);
    if (at >= 0) return go(rows[(at + by + rows.length) % rows.length]);
    const order = current ? rows.findIndex(r => current.compareDocumentPosition(r) & 4) : 0;
    go(by > 0 ? rows[Math.max(order, 0)] : rows.at(order > 0 ? order - 1 : -1));
  }
  function hottest() {
    const row = section().querySelector((narrow.matches && panes()?.matches(".code") ? ".asm " : "") + ".top1");
    if (row) go(row);
  }
  function show(n) {
    now = (n + all.length) % all.length;
    all.forEach((s, i) => { s.hidden = i !== now; });
    pick.selectedIndex = now;
    current = null;
    tab(!!panes()?.matches(".one, .code"));
    document.querySelector(".tabs").hidden = !!panes()?.matches(".one");
    hottest();
  }
  const actions = {
    n: () => step(1), p: () => step(-1), h: hottest, "]": () => show(now + 1), "[": () => show(now - 1),
    s: () => tab(!panes().matches(".code")),
  };
  addEventListener("keydown", e => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target.matches("select")) return;
    const action = actions[e.key];
    if (action) { e.preventDefault(); action(); }
  });
  addEventListener("click", e => {
    const link = e.target.closest("a[data-to]"), row = e.target.closest(".r"), act = e.target.closest("[data-act]");
    if (link) {
      e.preventDefault();
      go(section().querySelector(`.asm [data-i="${link.dataset.to}"]`));
    } else if (act) actions[act.dataset.act]();
    else if (e.target.dataset.tab) tab(e.target.dataset.tab === "code");
    else if (row && !row.classList.contains("gap") && !getSelection().toString()) select(row, true);
  });
  pick.addEventListener("change", () => { show(pick.selectedIndex); pick.blur(); });
  if (all.length) show(0);
})();
