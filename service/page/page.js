/**
 * The page at /: what happens when a user does something, and how a refusal is told.
 *
 * Data are read first (data.js), then the shown model is evaluated (curves.js), compared and judged (verdicts.js).
 */
import {byId, byteSize, choice, fill, grouped, make, makeText, option, write} from "./elements.js";
import {Refused, aside, beginRun, cancelRequests, expected, showWaiting} from "./requests.js";
import {BINARY, data, describe, isLabelUnclear, limit, models, offerColumns, readColumns} from "./data.js";
import * as curves from "./curves.js";
import {addRule, compare, judge, rejudge} from "./verdicts.js";

const FIELDS = ["scores", "labels", "positive_label", "weights", "clusters", "jump"]; // those that may have a problem

/** Do what follows from a choice, cancelling what followed from the one before; a refusal hides the results. */
async function busy(work) {
	const isLast = beginRun();
	showWaiting();
	byId("busy").hidden = false;
	try {
		tell();
		await work();
	} catch (error) {
		expected(error);
		if (!isLast()) return;
		byId("columns").hidden = !data.columns;
		byId("results").hidden = true;
		tell(error);
	} finally {
		if (isLast()) {
			if (document.activeElement === byId("cancel")) byId("file").focus();
			byId("busy").hidden = true;
		}
	}
}

/** Take data, read them and evaluate them. */
async function take(body, name, reading) {
	const areOthers = data.body !== body;
	try {
		await describe(body, name, reading);
	} catch (error) {
		tell(expected(error));
		return;
	}
	if (areOthers) fill("rules"); // the bounds were for other data
	await busy(async () => {
		await readColumns();
		await evaluate();
	});
}

/** Evaluate the chosen columns. */
async function evaluate() {
	const chosen = models();
	if (!chosen.length) throw new Refused("Choose a column of scores.");
	if (isLabelUnclear && !byId("positive_label").value) {
		const question = {pointer: "/positive_label", detail: "Which label is positive?"};
		throw new Refused("", {errors: [question]});
	}
	curves.startOver(chosen);
	const offered = chosen.length > 1 ? chosen : [];
	fill("models", ...offered.map(name => choice("radio", name, name === curves.model)));
	await showAll();
}

async function showAll() {
	await curves.show();
	await compare();
	await judge();
}

/** Tell why a request was refused, beside the fields concerned; or, without an error, that nothing is wrong. */
function tell(error) {
	const errors = error?.errors ?? [];
	const general = error && !errors.length ? [error.message] : [];
	let last = "problem";
	for (const name of FIELDS) write(`${name}-problem`, "");
	for (const {pointer, detail} of errors) {
		const {column, rowNumber} = placeOf(pointer);
		const field = fieldOf(column);
		const model = field === "scores" && models().length > 1 ? `${column}: ` : "";
		const text = model + (rowNumber ? `Row ${rowNumber}: ` : "") + inWordsOfThePage(detail);
		if (field && !byId("columns").hidden) {
			last = `${field}-problem`;
			write(last, text);
		} else {
			general.push(text);
		}
	}
	write("problem", inWordsOfThePage(general.join(" ")));
	fill("offers", ...offers([error?.message, ...errors.map(({detail}) => detail)].join(" ")));
	byId(last).after(byId("offers"));
	if (error?.status === 401) byId("locked").hidden = false;
}

/** The column of a JSON pointer, and the row as a spreadsheet numbers it, if it has one. */
function placeOf(pointer) {
	const [, column = "", at] = pointer.split("/");
	return {column: column.replaceAll("~1", "/").replaceAll("~0", "~"), rowNumber: at && +at + data.firstRow};
}

/** The field that a column or an option is chosen in. */
function fieldOf(column) {
	if (models().includes(column)) return "scores";
	return column && FIELDS.find(name => name === column || byId(name).value === column);
}

/** A detail of a refusal without what only other clients can do. */
const inWordsOfThePage = detail => detail
	.replace(/ This looks like a file on one line.*/, "")
	.replace(/: send Content-.*/, `. This page takes ${new Intl.ListFormat("en").format(["csv", ...BINARY].map(suffix => `.${suffix}`))}.`)
	.replace(/^Content-Type says [^,]*, and t/, "T")
	.replace(/ If it is data, add .*/, "")
	.replace(/ Leave out rows without one, or set missing=drop\./, "")
	.replace(/\b([Tt])he body\b/g, "$1he file");

/** What may follow a refusal, as buttons: to read the first row as data, or to leave out rows. */
function offers(details) {
	if (details.includes("header=absent")) {
		return [offer("The first row is data", () => take(data.body, data.name, {header: "absent"}))];
	}
	if (details.includes("missing=drop") && data.columns) {
		return [offer(`Leave out ${rowsWithoutAValue()} without a value`, leaveOutRows)];
	}
	return [];
}

function offer(label, work) {
	const onclick = () => {
		byId("file").focus({preventScroll: true}); // the button disappears
		work();
	};
	return makeText("button", label, {onclick});
}

/** How many rows have no value, if only one of the evaluated columns has such rows. */
function rowsWithoutAValue() {
	const {name, missing} = data.columns;
	const used = [...models(), ...["labels", "weights", "clusters"].map(id => byId(id).value)];
	const [count, another] = used.map(column => missing[name.indexOf(column)]).filter(Boolean);
	return !count || another ? "rows" : `${grouped(count)} of ${grouped(data.rows)} rows`;
}

function leaveOutRows() {
	data.format.missing = "drop";
	byId("source").append("; those without a value are left out");
	busy(evaluate);
}

for (const name of FIELDS) {
	byId(name).after(make("p", {id: `${name}-problem`, className: "problem", role: "alert"}));
	byId(name).setAttribute("aria-describedby", `${name}-problem`);
}

// The data.

const takeFile = ([file]) => file && take(file, file.name);
byId("file").onchange = () => {
	takeFile(byId("file").files);
	byId("file").value = "";
};
for (const type of ["dragover", "dragleave", "drop"]) {
	byId("drop").addEventListener(type, event => {
		event.preventDefault();
		byId("drop").className = type === "dragover" ? "over" : "";
		if (type === "drop") takeFile(event.dataTransfer.files);
	});
}
byId("use").onclick = () => byId("rows").value.trim() && take(new Blob([byId("rows").value]), "Rows");
byId("cancel").onclick = cancelRequests;
byId("locked").onsubmit = event => {
	event.preventDefault();
	take(data.body, data.name);
};
byId("columns").onchange = ({target}) => {
	if (target === byId("labels")) offerColumns(byId("labels").selectedIndex);
	busy(evaluate);
};

// The threshold.

/** Move the threshold, if anything is shown, and judge at the new one. */
const moved = move => aside(async () => {
	if (curves.shown() && await move()) rejudge();
});
byId("slider").oninput = () => curves.shown() && curves.move(byId("slider").value);
byId("slider").onchange = rejudge;
byId("threshold").onchange = () => moved(curves.moveToTyped);
byId("jump").onchange = () => moved(curves.jump);
byId("lower").onclick = () => moved(() => curves.step(-1));
byId("higher").onclick = () => moved(() => curves.step(1));
byId("threshold").onkeydown = event => {
	const by = {ArrowUp: 1, ArrowDown: -1}[event.key];
	if (!by) return;
	event.preventDefault();
	moved(() => curves.step(by));
};
for (const plane of ["roc", "pr"]) {
	byId(plane).onclick = event => moved(() => curves.moveToClick(plane, event));
}

// Models, bounds and pictures.

byId("models").onchange = ({target}) => {
	curves.chooseModel(target.value);
	busy(showAll);
};
byId("baseline").onchange = () => busy(showAll);
byId("rules").onchange = rejudge;
byId("add").onclick = () => {
	addRule("precision", 0.5);
	byId("rules").lastElementChild.firstElementChild.focus();
	rejudge();
};
byId("tradeoffs").ontoggle = () => byId("tradeoffs").open && aside(async () => {
	const query = {scores: curves.model, clusters: undefined}; // which have no intervals
	curves.putPictures("drawn-", await curves.drawn("/v1/tradeoffs", "tradeoffs", query));
});
byId("save").onclick = () => {
	const charts = curves.shown()?.charts;
	for (const plane in charts) {
		const href = `data:image/svg+xml,${encodeURIComponent(charts[plane])}`;
		make("a", {download: `${curves.model}-${plane}.svg`, href}).click();
	}
};

byId("jump").append(...curves.DECISIONS.map(([, text], at) => option(at, text)));
write("limit", byteSize(limit()));
byId("locked").hidden = document.documentElement.dataset.keys !== "true";
if (byId("locked").hidden) take(data.body, data.name);
