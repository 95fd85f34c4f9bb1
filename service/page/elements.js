/**
 * Elements of a document, and numbers as texts show them.
 *
 * Knows the browser; nothing of evaluations, of the service, or of what is on this page.
 */

export const byId = id => document.getElementById(id);

/** Make an element with these properties and children. */
export function make(tag, properties, ...children) {
	const made = Object.assign(document.createElement(tag), properties);
	made.append(...children);
	return made;
}

/** Make an element that has only a text. */
export const makeText = (tag, textContent, properties) => make(tag, {textContent, ...properties});

/** Replace what an element holds. */
export const fill = (id, ...children) => byId(id).replaceChildren(...children);

/** Replace the text of an element. */
export function write(id, text) {
	byId(id).textContent = text;
}

export const option = (value, text = value) => makeText("option", text, {value});
export const options = texts => texts.map(text => option(text));
export const cells = (tag, texts) => texts.map(text => makeText(tag, text));

/** A row of a table, with its heading. */
export const tableRow = (heading, ...texts) =>
	make("tr", {}, makeText("th", heading, {scope: "row"}), ...cells("td", texts));

/** A checkbox or a radio button with its label. */
export const choice = (type, value, checked) =>
	make("label", {}, make("input", {type, name: type, value, checked}), value);

/** A number with four digits. */
export const digits = value => value?.toPrecision(4) ?? "none";

/** The ends of an interval, if there is one. */
export const ends = interval => interval ? `${digits(interval.lower)} to ${digits(interval.upper)}` : "";

/** A count with separators between thousands. */
export const grouped = count => (+count).toLocaleString("en");

/** A text with infinite numbers by their name: JSON has none, so the service sends the greatest double. */
export const withInfinity = text => `${text}`.replace(/1\.7976931348623157e\+?308/g, "inf");

/** A size in bytes or MiB. */
export const byteSize = bytes => bytes < 1e5 ? `${grouped(bytes)} bytes` : `${grouped(bytes / 2 ** 20)} MiB`;
