/**
 * Commands and rules to copy, which give elsewhere what the page shows.
 *
 * Knows how a shell, curl, rocpr's command line and TOML are written; nothing of answers.
 */
import {byId, make, makeText, withInfinity} from "./elements.js";
import {chosenColumns, data, labelValues} from "./data.js";
import {model} from "./curves.js";

const copied = {}; // {heading: its text and its button}

/** Write a text as one word of a shell. */
const quoted = text => /^[\w.,:/=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Write a file's name as a word that no command takes for an option. */
const asFile = name => quoted(name.startsWith("-") ? `./${name}` : name);

/** Write options for rocpr. */
function asFlags(options) {
	const flags = Object.entries(options).map(([name, value]) => {
		const flag = ` --${name.replaceAll("_", "-")}`;
		return name === "lower_is_positive" ? flag : `${flag} ${quoted(value)}`;
	});
	return flags.join("");
}

/** Write options as lines of TOML; a positive label has its own type there, while fields of the page have texts. */
function asToml(options) {
	const written = (name, value) => {
		const typed = name === "positive_label" ? labelValues().find(label => String(label) === value) : value;
		return withInfinity(JSON.stringify(typed));
	};
	return Object.entries(options).map(([name, value]) => `${name} = ${written(name, value)}`).join("\n");
}

/** Write the commands and rules that do what is shown; `baseline` has the options of a comparison, or is false. */
export function writeCopies(rules, baseline) {
	const chosen = {...chosenColumns(), scores: model};
	const file = asFile(/\.\w+$/.test(data.name) ? data.name : "data.csv");
	const key = byId("key").value && ' -H "Authorization: Bearer $KEY"';
	const query = new URLSearchParams({...chosen, ...data.format, intervals: "{}"});
	const address = `'${location.origin}/v1/curves?${query}'`;
	const evaluated = `rocpr curves ${file}${asFlags({...chosen, ...data.format})} --intervals '{}'`;
	const judged = rules.length ? `\nrocpr gate rules.toml ${file}${asFlags(data.format)}` : "";
	const tables = [asToml({...chosen, ...baseline}), ...rules.map(rule => `[[rules]]\n${asToml(rule)}`)];
	const texts = {
		curl: `curl -H 'Content-Type: ${data.type}'${key} --data-binary @${file} ${address}`,
		"Command line": evaluated + judged,
		"rules.toml, for CI": rules.length ? tables.join("\n\n") : "Add a bound above to get rules.",
	};
	for (const heading in texts) {
		const {content, button} = copied[heading] ??= copyable(heading);
		if (content.textContent !== texts[heading]) button.textContent = "Copy";
		content.textContent = texts[heading];
	}
}

/** Make the place of a text with a button that copies it. */
function copyable(heading) {
	const content = make("pre", {tabIndex: 0});
	const button = make("button", {ariaLabel: `Copy: ${heading}`});
	button.onclick = async () => {
		getSelection().selectAllChildren(content);
		try {
			await navigator.clipboard.writeText(content.textContent);
		} catch {
			document.execCommand("copy"); // browsers without a clipboard for pages, such as over HTTP
		}
		button.textContent = "Copied";
	};
	byId("copies").append(make("div", {className: "row"}, makeText("strong", heading), button), content);
	return {content, button};
}
