"use strict";
// Everything here is extra: without it the page shows the same facts.
(() => {
  const root = document.documentElement;
  const toggle = document.getElementById("theme");
  if (toggle) {
    toggle.hidden = false;
    const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    toggle.setAttribute("aria-label", "Switch between light and dark");
    toggle.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; });
  }
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = document.getElementById(button.dataset.for).textContent;
      let done = true;
      try { await navigator.clipboard.writeText(text); } catch {
        const range = document.createRange();
        range.selectNodeContents(document.getElementById(button.dataset.for));
        const selection = getSelection();
        selection.removeAllRanges();
        selection.addRange(range);
        done = document.execCommand("copy");
      }
      button.textContent = done ? "Copied" : "Press Ctrl-C";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  // Any access in any barrier phase.
  const source = document.getElementById("accesses");
  const card = document.getElementById("pictures");
  if (!source || !card) return;
  const data = JSON.parse(source.textContent);
  if (data.accesses.length < 2) return;
  const NS = "http://www.w3.org/2000/svg";
  const make = (name, attributes, text) => {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const html = (name, attributes, ...children) => {
    const element = document.createElement(name);
    Object.assign(element, attributes);
    element.append(...children);
    return element;
  };
  const LEFT = 34, MOST = 16, colour = (w) => Math.min(w, 3) + 1;
  const busy = (s) => `${s.w} ${s.w === 1 ? "wavefront" : "wavefronts"} · ${s.b} of ${data.banks} banks busy`;
  const axes = (svg, width, floor, upward) => {
    svg.append(make("text", { class: "ax", x: (LEFT + width) / 2, y: floor + 30, "text-anchor": "middle" }, "bank"));
    svg.append(make("text", { class: "ax", transform: `translate(10 ${floor / 2}) rotate(-90)`, "text-anchor": "middle" }, upward));
  };
  const stack = (s, rows) => {
    rows = Math.min(rows, MOST);
    const width = LEFT + 16 * data.banks + 2, floor = 25 * rows + 1;
    const svg = make("svg", { class: "pic", viewBox: `0 0 ${width} ${floor + 34}`, role: "img", "aria-label": busy(s) });
    for (let row = 0; row < rows; row++) {
      const top = floor - 25 * (row + 1);
      svg.append(make("text", { class: "ax", x: 26, y: top + 15.5, "text-anchor": "end" }, row + 1));
      svg.append(make("rect", { class: row < s.w ? "slot" : "slot saved", x: LEFT, y: top, width: 16 * data.banks, height: 23, rx: 3 }));
    }
    for (const [lanes, word, bank, wave] of s.c) {
      if (wave >= rows) continue;
      const x = LEFT + 16 * bank, y = floor - 25 * (wave + 1), group = make("g", {});
      group.append(make("title", {}, `${lanes.length > 1 ? "lanes" : "lane"} ${lanes.join(", ")} · word ${word} · bank ${bank} · wavefront ${wave + 1}`));
      group.append(make("rect", { class: `w${colour(wave)}`, x: x + 0.75, y: y + 0.75, width: 14.5, height: 21.5, rx: 2 }));
      group.append(make("text", { class: `ln t${colour(wave)}`, x: x + 8, y: y + 14.7 }, lanes[0] + (lanes.length > 1 ? "+" : "")));
      svg.append(group);
    }
    const step = Math.max(1, data.banks / 8);
    for (let bank = 0; bank < data.banks; bank += step)
      svg.append(make("text", { class: "ax", x: LEFT + 16 * (bank + 0.5), y: floor + 15, "text-anchor": "middle" }, bank));
    axes(svg, width, floor, "wavefront");
    return svg;
  };
  const matrix = (s) => {
    const width = 10 * data.banks, floor = 10 * data.lanes;
    const svg = make("svg", { class: "pic sq", viewBox: `0 0 ${LEFT + width + 2} ${floor + 34}`, role: "img", "aria-label": busy(s) });
    svg.append(make("rect", { class: "slot", x: LEFT, y: 0, width, height: floor }));
    for (const [lanes, , bank, wave] of s.c)
      for (const lane of lanes)
        svg.append(make("rect", { class: `w${colour(wave)}`, x: LEFT + 10 * bank + 0.5, y: 10 * lane + 0.5, width: 9, height: 9, rx: 1.5 }));
    for (let bank = 0; bank < data.banks; bank += 8)
      svg.append(make("text", { class: "ax", x: LEFT + 10 * (bank + 0.5), y: floor + 14, "text-anchor": "middle" }, bank));
    for (let lane = 0; lane < data.lanes; lane += 8)
      svg.append(make("text", { class: "ax", x: 28, y: 10 * lane + 9, "text-anchor": "end" }, lane));
    axes(svg, LEFT + width + 2, floor, "lane");
    return svg;
  };
  const own = html("div", { className: "acc own" });
  card.querySelector(".key").before(own);
  const show = (access) => {
    const rows = Math.max(access.before.w, access.after ? access.after.w : 0);
    const figure = (name, s) => html("figure", {},
      html("figcaption", {}, html("b", { textContent: name }), html("span", { className: `tag ${s.w === 1 || s.w < access.before.w ? "good" : "bad"}`, textContent: busy(s) })),
      html("div", { className: "v-s" }, stack(s, rows)), html("div", { className: "v-m" }, matrix(s)));
    const pair = html("div", { className: "pair" }, figure("As it is", access.before));
    if (access.after) pair.append(figure("Changed", access.after));
    own.replaceChildren(html("p", { className: "cap", textContent: access.caption }), pair);
    card.classList.add("picked");
  };
  const pick = document.getElementById("pick");
  const choose = (name, values) => {
    const select = html("select", {}, ...values.map((v) => html("option", { value: v, textContent: v })));
    pick.append(html("label", { textContent: `${name} ` }, select));
    return select;
  };
  const all = data.accesses, places = [...new Set(all.map((a) => a.place))].sort(new Intl.Collator("en", { numeric: true }).compare);
  const line = choose("any line", ["…", ...places]), phase = choose("barrier phase", ["…"]);
  const phases = () => all.filter((a) => a.place === line.value).sort((a, b) => a.phase - b.phase);
  line.addEventListener("change", () => {
    const there = phases();
    phase.replaceChildren(...there.map((a) => html("option", { value: a.phase, textContent: `${a.phase}: ${a.conflicts} conflicts` })));
    const worst = there.reduce((a, b) => (!a || b.conflicts > a.conflicts ? b : a), null);
    if (!worst) { card.classList.remove("picked"); return; }
    phase.value = worst.phase;
    show(worst);
  });
  phase.addEventListener("change", () => {
    const found = phases().find((a) => a.phase === Number(phase.value));
    if (found) show(found);
  });
  for (const radio of card.querySelectorAll("input[name=acc]"))
    radio.addEventListener("change", () => { card.classList.remove("picked"); line.value = "…"; phase.replaceChildren(html("option", { textContent: "…" })); });
  pick.hidden = false;
})();
