/**
 * The data: a file or rows, how they are written, and the columns that are evaluated.
 *
 * The service reads the data; only what it has to be told, such as a delimiter, is guessed here. Knows the fields of the
 * sections "Data" and "Columns"; nothing of results.
 */
import {byId, byteSize, choice, fill, grouped, option, options, write} from "./elements.js";
import {ask, Refused} from "./requests.js";

/** The most bytes that the service takes. */
export const limit = () => document.documentElement.dataset.limit;
/** The suffixes of files that are no text; their first bytes tell the service which format they have. */
export const BINARY = document.documentElement.dataset.binary.split(" ");
const DELIMITERS = {";": "semicolon", "\t": "tab", "|": "pipe"};
const LINE_FOR_EXCEL = /^"?sep=([,;\t|])"?[^\n]*\n/i;
const READ_AHEAD = 65536;
const MOST_CHOSEN = 8;

const NAME_OF_LABELS = /^(y|labels?|target|class|truth|y_?true|outcome|actual)$/i;
const NAME_OF_WEIGHTS = /^(w|weights?|sample_?weights?)$/i;
const NAME_OF_IDS = /^(|.*(\b|_)id|index|row|unnamed.*)$/i;
const NAME_OF_SCORES = /scor|prob|pred|risk|model|logit|xgb|boost|forest/i;
const CLEAR_LABEL = /^(-?1|0|true|false)$/i;
const POSITIVE_LABEL = /^(y|t|pos|spam|fraud|bad|malignant|churn|case|sick|event|default|ja$|oui)/i;

/** What is evaluated, or was refused: its body, name and media type, `format` (options), `columns` once known, and its first `bounds`. */
export let data = {body: new Blob([sample()]), name: "Sample", bounds: [["roc", 0.8], ["recall", 0.7]]};

/** Whether a positive label has to be chosen. */
export let isLabelUnclear = false;

/** 600 rows, the same every time: one in five is a fraud, which the candidate sees better than the current model. */
function sample() {
	let seed = 7;
	const noise = () => {
		seed = seed * 48271 % 2147483647;
		return 2 * seed / 2147483647 - 1;
	};
	let text = "fraud,country,current,candidate\n";
	for (let row = 0; row < 600; row++) {
		const fraud = row % 5 ? 0 : 1;
		const shared = noise() + noise();
		const score = shift => (1 / (1 + Math.exp(-shift * fraud - shared - noise()))).toFixed(4);
		text += `${fraud},${["DE", "FR", "IT"][row % 3]},${score(1.5)},${score(1.9)}\n`;
	}
	return text;
}

/** Take other data, or the same read in another way. Throws Refused if their size is out of the question. */
export async function describe(body, name, reading = {}) {
	if (body.size > limit()) {
		throw new Refused(`${name} is ${byteSize(body.size)}; this server takes up to ${byteSize(limit())}.`);
	}
	if (!body.size) throw new Refused(`${name} is empty.`);
	const isBinary = BINARY.includes(name.split(".").pop().toLowerCase());
	// Not by its text, for which some browsers take UTF-16 as such, and others do not.
	const mark = String(new Uint8Array(await body.slice(0, 2).arrayBuffer()));
	if (mark === "255,254" || mark === "254,255") {
		write("source", name);
		throw new Refused(`${name} is in UTF-16; save it as CSV UTF-8.`);
	}
	const text = isBinary ? "" : await body.slice(0, READ_AHEAD).text();
	// As German and French editions of Excel write.
	const isWestern = !isBinary && !text.includes("\0") && !await isUtf8(body);
	const textType = `text/csv${isWestern ? "; charset=windows-1252" : ""}`;
	data = {
		...(data.body === body && data),
		body,
		name,
		type: isBinary ? "application/octet-stream" : textType,
		// As a spreadsheet numbers it, which hides a line such as sep=;
		firstRow: isBinary || reading.header === "absent" ? 1 : 2,
		format: isBinary ? {} : {...formatOf(text), ...reading},
		columns: null,
	};
	write("source", `${name}, ${byteSize(body.size)}${isWestern ? ", read as Windows-1252" : ""}`);
}

/** The options for a text's delimiter and decimal mark. A line for Excel gives the delimiter to the service, too. */
function formatOf(text) {
	const forExcel = LINE_FOR_EXCEL.exec(text);
	const rows = text.slice(forExcel?.[0].length ?? 0);
	const [head] = rows.split(/\r?\n/, 1);
	const unquoted = head.replace(/"[^"]*"/g, "");
	const count = mark => unquoted.split(mark).length;
	const mark = forExcel ? forExcel[1] : [...",;\t|"].sort((one, other) => count(other) - count(one))[0];
	const isSpaced = count(mark) === 1 && /\S +\S/.test(head);
	const delimiter = isSpaced ? "space" : DELIMITERS[mark];
	if (!delimiter) return {};
	return /(^|[;\t| \n])"?-?\d*,\d/.test(rows) ? {delimiter, decimal: "comma"} : {delimiter};
}

async function isUtf8(body) {
	try {
		new TextDecoder("utf-8", {fatal: true}).decode(await body.arrayBuffer());
		return true;
	} catch {
		return false;
	}
}

/** Ask for the columns of the data, and offer them. */
export async function readColumns() {
	const {columns, rows} = await table("/v1/columns");
	Object.assign(data, {columns, rows});
	byId("source").append(`, ${grouped(rows)} rows`);
	offerColumns();
}

/** Offer columns for each field, with a guess at what they are; `label` is the place of the labels, if known. */
export function offerColumns(label = guessedLabel(data.columns)) {
	const {name, type} = data.columns;
	const others = [...name.keys()].filter(place => place !== label);
	const numbers = others.filter(place => type[place] === "number");
	const weight = numbers.find(place => NAME_OF_WEIGHTS.test(name[place]));
	const readable = numbers.every(place => NAME_OF_IDS.test(name[place])) ? others : numbers;
	const scores = readable.filter(place => place !== weight);
	const chosen = guessedScores(data.columns, scores);
	fill("labels", ...options(name));
	byId("labels").value = name[label];
	fill("weights", option("", "none"), ...options(numbers.map(place => name[place])));
	byId("weights").value = name[weight] ?? "";
	fill("clusters", option("", "none"), ...options(name.filter((_, place) => place !== label && !chosen.includes(place))));
	fill("scores", ...scores.map(place => choice("checkbox", name[place], chosen.includes(place))));
	byId("columns").hidden = false;
	offerLabels();
}

const hasTwoValues = ({values, more}, place) => !more[place] && values[place].length === 2;

/** The column that is most likely to have the labels: by its name, or else because it has two values. */
function guessedLabel(columns) {
	const rank = place => NAME_OF_LABELS.test(columns.name[place]) ? 0 : hasTwoValues(columns, place) ? 1 : 2;
	return [...columns.name.keys()].reduce((best, place) => rank(place) < rank(best) ? place : best, 0);
}

/** The columns that are most likely to be models: by their names, or as probabilities, or because their values vary. */
function guessedScores(columns, scores) {
	const {name, values} = columns;
	const isProbability = value => {
		const number = `${value}`.replace(",", ".");
		return number >= 0 && number <= 1;
	};
	const named = scores.filter(place => NAME_OF_SCORES.test(name[place]));
	const varied = scores.filter(place => !hasTwoValues(columns, place) && !NAME_OF_IDS.test(name[place]));
	const probabilities = varied.filter(place => values[place].every(isProbability));
	return [named, probabilities, varied, scores].find(places => places.length)?.slice(0, MOST_CHOSEN) || [];
}

/** Offer the values of the column of labels, one of which may have to be chosen. */
function offerLabels() {
	const texts = labelValues().map(String);
	isLabelUnclear = !texts.every(text => CLEAR_LABEL.test(text));
	fill("positive_label", option("", isLabelUnclear ? "Choose" : "1 or true"), ...options(texts));
	byId("positive_label").value = isLabelUnclear && texts.find(text => POSITIVE_LABEL.test(text)) || "";
}

/** The values of the column of labels. */
export const labelValues = () => data.columns.values[byId("labels").selectedIndex];

/** The columns of scores that are evaluated. */
export const models = () => [...document.querySelectorAll("#scores :checked")].map(box => box.value);

/** The options of an evaluation that say which columns it reads, but for the scores. */
export function chosenColumns() {
	const chosen = {labels: byId("labels").value};
	for (const name of ["positive_label", "weights", "clusters"]) if (byId(name).value) chosen[name] = byId(name).value;
	if (byId("lower_is_positive").checked) chosen.lower_is_positive = true;
	return chosen;
}

/** Ask for something about the data; with a query, about the columns that are evaluated. */
export const table = (path, query) =>
	ask(path, {...data.format, ...(query && chosenColumns()), ...query}, data.body, data.type);

/** A model's name, cut to what differs from the others' if it is long. */
export function brief(name) {
	const names = models();
	const words = names.map(each => each.split(/(?<=[_\W])/));
	const mine = words[names.indexOf(name)];
	if (names.length < 2 || Math.max(...names.map(each => each.length)) <= 16) return name;
	const shortest = Math.min(...words.map(each => each.length));
	const isShared = place => words.every(each => each.at(place) === mine.at(place));
	let start = 0;
	let end = 0;
	while (start < shortest - 1 && isShared(start)) start++;
	while (end < shortest - 1 - start && isShared(-1 - end)) end++;
	const differs = mine.slice(start, mine.length - end).join("");
	const begins = start ? "…\u2060" : ""; // no line break after it
	return begins + (end ? `${differs.replace(/[_\W]$/, "")}…` : differs);
}
