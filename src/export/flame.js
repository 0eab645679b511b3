/* Makes the picture usable: zoom, search, details, keys. Everything is drawn already. */
(() => {
"use strict";
const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
const ROW = 18, MARGIN = 10, ROUNDING = 2e-6;
const ROW_READABLE = 13, ROW_LEAST = 3;
const HELP = ["click, Enter: zoom into a frame", "arrows: go to callers, callees, neighbours",
	"Home: the root", "/ : search, a regular expression", "Esc: clear search, then zoom",
	"f: all rows in the window, or high ones", "r: reset all", "?: this help"];
const root = document.currentScript.closest("svg");
const up = root.dataset.direction === "up";
const bar = root.querySelector(".bar");
const heading = bar.querySelector(".name"), detail = bar.querySelector(".detail");
const title = heading.textContent, rest = detail.textContent;
const drawnHeight = +root.getAttribute("height");
/* Phones lay a bare SVG out on a page that is wider than they are, and shrink it. */
const alone = document.documentElement === root;
const phone = alone && matchMedia("(pointer:coarse)").matches;
const scale = () => phone && screen.width < innerWidth ? innerWidth / screen.width : 1;
const widthNow = () => root.clientWidth / scale();
let height = drawnHeight, row = ROW, fit = false;
let characterWidth = 6.7, graphs = [], current = null, pattern = null, box = null, help = null;

function make(name, attributes, parent) {
	const e = document.createElementNS(SVG, name);
	for (const key in attributes)
		e.setAttribute(key, attributes[key]);
	parent.append(e);
	return e;
}

/* ---- frames ---- */

function readGraph(element) {
	const frames = [], rows = [];
	for (const rect of element.querySelectorAll("rect")) {
		const next = rect.nextElementSibling;
		const about = rect.firstElementChild.textContent;
		const line = about.indexOf("\n");
		const y = +rect.getAttribute("y");
		const f = {rect, y, label: next && next.tagName === "text" ? next : null,
			x: parseFloat(rect.getAttribute("x")) / 100,
			w: parseFloat(rect.getAttribute("width")) / 100,
			name: about.slice(0, line), about: about.slice(line + 1)};
		f.row = Math.abs(y - (frames.length ? frames[0].y : y)) / ROW;
		(rows[f.row] = rows[f.row] || []).push(f);
		rect.frame = f;
		frames.push(f);
	}
	/* Not the root: what is only a part of the other graph's whole is drawn as that. */
	const whole = {x: 0, w: 1, row: -1};
	const graph = {element, frames, rows, whole, focus: whole, behind: [],
		y: +element.getAttribute("y"), count: +element.getAttribute("height") / ROW};
	/* What moves with its end. */
	for (let e = element.nextElementSibling; e && e.tagName !== "script"; e = e.nextElementSibling)
		if (!e.matches("svg.graph,.bar"))
			graph.behind.push(e);
	frames.forEach(f => f.graph = graph);
	element.setAttribute("tabindex", "0");
	element.setAttribute("role", "application");
	element.setAttribute("aria-label", "frames; arrow keys move, Enter zooms, ? helps");
	return graph;
}

const covers = (a, b) => a.x <= b.x + ROUNDING && a.x + a.w >= b.x + b.w - ROUNDING;

function parentOf(f) {
	const row = f.row && f.graph.rows[f.row - 1];
	return row ? row.find(p => covers(p, f)) : null;
}

function widestChild(f) {
	const row = f.graph.rows[f.row + 1] || [];
	return row.filter(c => covers(f, c) && !c.hidden)
		.reduce((best, c) => !best || c.w > best.w ? c : best, null);
}

function neighbour(f, step) {
	const row = f.graph.rows[f.row];
	for (let i = row.indexOf(f) + step; row[i]; i += step)
		if (!row[i].hidden)
			return row[i];
	return null;
}

/* ---- drawing ---- */

/* Rows as high as the window allows, as long as they can be read; all of them if that is wanted. */
function chooseRows() {
	const rows = graphs.reduce((n, g) => n + g.count, 0);
	const room = (alone ? innerHeight / scale() : drawnHeight) - (drawnHeight - rows * ROW);
	const before = row;
	row = Math.max(fit ? ROW_LEAST : ROW_READABLE, Math.min(ROW, Math.floor(10 * room / rows) / 10));
	if (!alone)
		row = ROW;
	height = drawnHeight - rows * (ROW - row);
	if (row === before)
		return;
	let shrunk = 0;
	for (const g of graphs) {
		g.element.setAttribute("y", g.y - shrunk);
		g.element.setAttribute("height", g.count * row);
		shrunk += g.count * (ROW - row);
		for (const e of g.behind)
			e.setAttribute("transform", `translate(0,${-shrunk})`);
		for (const f of g.frames) {
			f.y = (up ? g.count - 1 - f.row : f.row) * row;
			f.rect.setAttribute("y", f.y);
			f.rect.setAttribute("height", row > 6 ? row - 1 : row);
			if (f.label)
				f.label.setAttribute("y", f.y + labelY());
		}
	}
}

/* Underscores stay inside low rows. */
const labelY = () => 8.6 + (row - ROW_READABLE) * .68;

function setLabel(f, x, px) {
	const fits = Math.floor((px - 6) / characterWidth);
	if (fits < 3 || row < 11) {
		if (f.label)
			f.label.setAttribute("display", "none");
		return;
	}
	if (!f.label) {
		f.label = document.createElementNS(SVG, "text");
		f.label.setAttribute("dx", 3);
		f.label.setAttribute("y", f.y + labelY());
		f.rect.after(f.label);
	}
	f.label.removeAttribute("display");
	f.label.setAttribute("x", x);
	f.label.textContent = f.name.length <= fits ? f.name : f.name.slice(0, fits - 1) + "…";
}

function drawFrame(f, focus, width) {
	let x = (f.x - focus.x) / focus.w, w = f.w / focus.w;
	const above = f.row < focus.row && covers(f, focus);
	f.hidden = !above && f !== focus && (f.row <= focus.row || !covers(focus, f));
	if (above)
		[x, w] = [0, 1];
	f.hidden = f.hidden || w * width < .1;
	f.rect.classList.toggle("outside", above);
	f.rect.classList.toggle("t", w * width < 3);
	if (f.hidden) {
		f.rect.setAttribute("display", "none");
		if (f.label)
			f.label.setAttribute("display", "none");
		return;
	}
	x = Math.max(0, x);
	w = Math.min(w, 1 - x);
	f.rect.removeAttribute("display");
	f.rect.setAttribute("x", 100 * x + "%");
	f.rect.setAttribute("width", 100 * w + "%");
	setLabel(f, 100 * x + "%", w * width);
}

function drawGraph(graph) {
	const width = widthNow() - 2 * MARGIN;
	graph.element.setAttribute("width", width);
	for (const f of graph.frames)
		drawFrame(f, graph.focus, width);
}

function cut(text, px, perCharacter) {
	const fits = Math.max(4, Math.floor(px / perCharacter));
	return text.length <= fits ? text : text.slice(0, fits - 1) + "…";
}

function drawBar() {
	const width = widthNow(), wide = width > 520;
	let x = width - MARGIN;
	for (const b of [...bar.querySelectorAll(".button")].reverse()) {
		x -= +b.firstChild.getAttribute("width");
		b.setAttribute("transform", `translate(${x},8)`);
		x -= 6;
	}
	heading.textContent = box ? "" : cut(title, x - MARGIN, 9);
	if (box) {
		box.setAttribute("width", Math.max(80, Math.min(320, x - MARGIN - (wide ? 220 : 0))));
		box.firstChild.focus();
	}
	show(current);
}

function draw() {
	/* As wide as there is room. */
	root.setAttribute("width", "100%");
	chooseRows();
	root.setAttribute("height", height * scale());
	root.setAttribute("viewBox", `0 0 ${widthNow()} ${height}`);
	graphs.forEach(drawGraph);
	drawBar();
}

/* ---- details ---- */

function show(f) {
	let text = f ? f.name + "  ·  " + f.about.replace(/\n/g, "  ·  ") : rest;
	if (pattern && !f)
		text = matched();
	else if (pattern)
		text = matched() + "  ·  " + text;
	const room = widthNow() - 2 * MARGIN;
	/* The figures stay when the name is too long. */
	if (f && text.length * 6.6 > room)
		text = (pattern ? matched() + "  ·  " : "") +
			cut(f.name, room - f.about.length * 6.6 - (pattern ? 180 : 40), 6.6) + "  ·  " +
			f.about.replace(/\n/g, "  ·  ");
	detail.textContent = cut(text, room, 6.4);
}

function select(f) {
	if (current)
		current.rect.classList.remove("current");
	current = f;
	if (f) {
		f.rect.classList.add("current");
		f.rect.scrollIntoView({block: "nearest"});
	}
	show(f);
}

function zoom(f) {
	f.graph.focus = f;
	drawGraph(f.graph);
	show(f);
	root.dispatchEvent(new Event("zoomed"));
}

/* ---- search ---- */

/* Capital letters count if there are any. */
function compile(text) {
	return new RegExp(text, /[A-Z]/.test(text) ? "" : "i");
}

/* Frames come parent first and from left to right: what is below one that counts is passed over. */
function shareOf(graph) {
	let share = 0, end = 0;
	for (const f of graph.frames)
		if (f.match && f.x >= end - ROUNDING) {
			share += f.w;
			end = f.x + f.w;
		}
	return share;
}

function matched() {
	const parts = graphs.map(g => (100 * shareOf(g)).toFixed(2) + " %");
	return "matched: " + parts.join(" and ");
}

function mark() {
	for (const g of graphs)
		for (const f of g.frames) {
			f.match = pattern !== null && pattern.test(f.name);
			f.rect.classList.toggle("hit", f.match);
		}
	root.dataset.matched = pattern ? matched() : "";
	show(null);
}

function search(text) {
	let wrong = false;
	try {
		pattern = text ? compile(text) : null;
	} catch (e) {
		wrong = true;
		pattern = null;
	}
	box.firstChild.classList.toggle("wrong", wrong);
	mark();
	if (wrong)
		detail.textContent = "not a regular expression";
}

function openSearch() {
	if (box) {
		box.firstChild.focus();
		return;
	}
	box = make("foreignObject", {x: MARGIN, y: 8, width: 200, height: 28}, bar);
	const input = document.createElementNS(HTML, "input");
	input.setAttribute("type", "search");
	input.setAttribute("aria-label", "search, a regular expression");
	input.setAttribute("placeholder", "search (regex)");
	input.addEventListener("input", () => search(input.value));
	input.addEventListener("keydown", e => {
		e.stopPropagation();
		if (e.key === "Escape")
			closeSearch();
		else if (e.key === "Enter")
			graphs[0].element.focus({preventScroll: true});
	});
	box.append(input);
	drawBar();
}

function closeSearch() {
	pattern = null;
	if (box)
		box.remove();
	box = null;
	mark();
	drawBar();
}

/* ---- all else ---- */

function reset() {
	closeSearch();
	select(null);
	graphs.forEach(g => g.focus = g.whole);
	draw();
}

function toggleFit() {
	fit = !fit;
	draw();
	toRoot();
	stick();
}

function toggleHelp() {
	if (help) {
		help.remove();
		help = null;
		return;
	}
	const width = Math.min(330, widthNow() - 20);
	help = make("g", {class: "help"}, root);
	make("rect", {width, height: 24 + 20 * HELP.length, rx: 6}, help);
	HELP.forEach((line, i) =>
		make("text", {x: 14, y: 28 + 20 * i}, help).textContent = line);
	help.addEventListener("click", toggleHelp);
	stick();
}

function addButton(label, text, run) {
	const b = make("g", {class: "button", tabindex: 0, role: "button", "aria-label": label}, bar);
	make("rect", {width: 18 + 7 * text.length, height: 26, rx: 4}, b);
	make("text", {x: 9, y: 17}, b).textContent = text;
	make("title", {}, b).textContent = label;
	b.addEventListener("click", run);
	b.addEventListener("keydown", e => {
		if (e.key === "Enter" || e.key === " ") {
			e.preventDefault();
			e.stopPropagation();
			run();
		}
	});
}

/* Callers stand at the bottom of the first graph: begin there. */
function toRoot() {
	const first = graphs[0].element;
	if (up && alone)
		scrollTo(0, (graphs.length > 1 ? +first.getAttribute("y") + +first.getAttribute("height") + 8
			: height) * scale() - innerHeight);
}

/* The bar stays in sight when a deep graph is scrolled. */
function stick() {
	const y = Math.max(0, -root.getBoundingClientRect().top) / scale();
	bar.setAttribute("transform", `translate(0,${y})`);
	if (help)
		help.setAttribute("transform",
			`translate(${Math.max(10, widthNow() - 340)},${y + 64})`);
}

function leave() {
	if (help)
		toggleHelp();
	else if (box || pattern)
		closeSearch();
	else
		reset();
}

function move(key) {
	const from = current || graphs[0].frames[0];
	const inward = key === (up ? "ArrowUp" : "ArrowDown");
	const to = !current ? from
		: key === "Home" ? from.graph.frames[0]
		: key === "ArrowLeft" ? neighbour(from, -1)
		: key === "ArrowRight" ? neighbour(from, 1)
		: inward ? widestChild(from) : parentOf(from);
	if (to)
		select(to);
}

function onKey(e) {
	if (e.ctrlKey || e.metaKey || e.altKey)
		return;
	if (e.key.startsWith("Arrow") || e.key === "Home")
		move(e.key);
	else if (e.key === "Enter" && current)
		zoom(current);
	else if (e.key === "/")
		openSearch();
	else if (e.key === "?")
		toggleHelp();
	else if (e.key === "Escape")
		leave();
	else if (e.key === "f")
		toggleFit();
	else if (e.key === "r")
		reset();
	else
		return;
	e.preventDefault();
}

function measure() {
	const probe = make("text", {visibility: "hidden"}, graphs[0].element);
	probe.textContent = "m".repeat(50);
	characterWidth = probe.getComputedTextLength() / 50 || characterWidth;
	probe.remove();
}

graphs = [...root.querySelectorAll("svg.graph")].map(readGraph).filter(g => g.frames.length);
if (!graphs.length)
	return;
addButton("reset zoom and search", "Reset", reset);
addButton("search", "Search", openSearch);
addButton("help on keys", "?", toggleHelp);
measure();
draw();
for (const g of graphs) {
	g.element.addEventListener("click", e => {
		if (e.target.frame) {
			select(e.target.frame);
			zoom(e.target.frame);
		}
	});
	g.element.addEventListener("mousemove", e => e.target.frame && show(e.target.frame));
	g.element.addEventListener("mouseleave", () => show(current));
	g.element.addEventListener("focus", () => current || move("Home"));
}
document.addEventListener("keydown", onKey);
addEventListener("resize", draw);
addEventListener("scroll", stick);
toRoot();
stick();
})();
