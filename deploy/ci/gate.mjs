// Stops a CI job if a model does not meet its rules. Asks a rocpr server; needs only Node 18 or newer.
//
//   ROCPR_SERVER=https://rocpr.example.org node gate.mjs RULES.json SCORES [NAME=VALUE ...]
//
// The files, the options, and ROCPR_SERVER, ROCPR_API_KEY, ROCPR_PLOT and ROCPR_SECONDS are those of gate.sh; the comment
// at its top explains them.
// Prints each rule with its numbers, and why it is not met. If $GITHUB_STEP_SUMMARY is set, asks the server once more and
// adds the verdict in Markdown, or why there is none. The exit status is 0 if every rule is met, 1 if a rule failed,
// 2 if none failed but one is undecided, and 3 if there is no verdict.

import { appendFile, readFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const TYPES = {
  csv: "text/csv",
  tsv: "text/csv",
  json: "application/json",
  parquet: "application/vnd.apache.parquet",
  arrow: "application/vnd.apache.arrow.stream",
  arrows: "application/vnd.apache.arrow.stream",
  feather: "application/vnd.apache.arrow.stream",
};
const ARROW_FILE = "application/vnd.apache.arrow.file";
const STATUSES = { __proto__: null, passed: 0, failed: 1, undecided: 2 };
const AGAIN = [429, 502, 503, 504]; // 502 and 504 are a proxy's, in front of a server that is not up yet
const ADVICE = {
  401: "Put a key that the server knows into ROCPR_API_KEY.",
  404: "ROCPR_SERVER is the address without /v1/gates.",
};
const ANSWER_MILLISECONDS = 300_000;
const MOST_TRIES = 30;

class GateError extends Error {}

/** Escapes what a terminal or a CI server would interpret in text of a server or a file. */
const safe = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (mark) => `\\u{${mark.codePointAt(0).toString(16)}}`);

/** Makes the address and the body of a request. */
async function request(server, rulesPath, scoresPath, options) {
  if (rulesPath.endsWith(".toml")) throw new GateError(`${rulesPath}: the rules are JSON here; rocpr gate reads TOML`);
  const first = TYPES[rulesPath.split(".").pop()];
  if (first && first !== TYPES.json) throw new GateError(`RULES.json comes first, then SCORES; ${rulesPath} is a table`);
  const rules = (await readFile(rulesPath, "utf8")).trim(); // unparsed: JavaScript accepts 1e400 and duplicate keys
  const scores = await readFile(scoresPath);
  const suffix = scoresPath.split(".").pop();
  const named = TYPES[suffix];
  const type = named === TYPES.arrow && scores.subarray(0, 6).equals(Buffer.from("ARROW1")) ? ARROW_FILE : named;
  if (!type) throw new GateError(`${scoresPath} does not end in .${Object.keys(TYPES).join(", .")}`);
  const url = new URL(`${server.replace(/\/+$/, "")}/v1/gates`);
  if (type !== TYPES.json) {
    url.searchParams.set("rules", rules);
    for (const option of options) {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(option) ?? [];
      if (!name) throw new GateError(`${option} is not NAME=VALUE`);
      url.searchParams.append(name, value);
    }
    if (suffix === "tsv" && !url.searchParams.has("delimiter")) url.searchParams.set("delimiter", "tab");
    return { url, type, body: scores };
  }
  if (options.length) throw new GateError("options are for tables; in a JSON file, options are fields");
  // As text, because JavaScript's numbers lose digits.
  const text = scores.toString("utf8").trimStart();
  if (!text.startsWith("{")) throw new GateError(`${scoresPath} does not start with {`);
  return { url, type, body: `{"rules": ${rules}, ${text.slice(1)}` };
}

/** Asks until the server answers in full with a status other than those of AGAIN, or no time is left. */
async function ask({ url, type, body }, accept, key, seconds) {
  const end = Date.now() + seconds * 1000;
  const headers = { "Content-Type": type, Accept: accept };
  if (key) headers.Authorization = `Bearer ${key}`;
  for (let tries = 1; ; tries++) {
    let wait = Math.min(500 * 2 ** tries, 10_000);
    let response;
    let lost;
    try {
      const signal = AbortSignal.timeout(ANSWER_MILLISECONDS);
      const answer = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
      const [kind] = (answer.headers.get("Content-Type") ?? "").split(";");
      response = { status: answer.status, type: kind, text: await answer.text() };
      if (!AGAIN.includes(response.status)) return response;
      const after = Number(answer.headers.get("Retry-After"));
      if (after > 0) wait = after * 1000;
    } catch (error) {
      lost = error;
    }
    if (tries > MOST_TRIES || Date.now() + wait > end) {
      if (response) return response;
      throw new GateError(`${url.origin} does not answer: ${lost.cause?.message || lost.cause?.code || lost.message}`);
    }
    await sleep(wait);
  }
}

/** Reads the verdict; fails for any other answer. */
function verdict({ status, type, text }) {
  let answer = null;
  try {
    if (/[/+]json$/.test(type)) answer = JSON.parse(text);
  } catch {
    // It is not a verdict.
  }
  if (type === "application/json" && Array.isArray(answer?.checks) && answer.status in STATUSES) return answer;
  const errors = (answer?.errors ?? []).map(({ pointer, detail }) => `\n  ${safe(`${pointer && `${pointer}: `}${detail}`)}`);
  // If there is only one error, the problem's detail already says it.
  const detail = errors.length === 1 ? "" : ` ${safe(`${answer?.detail}`)}`;
  const said = answer?.title ? `: ${safe(`${answer.title}`)}.${detail}${errors.join("")}` : " without a verdict";
  const advice = ADVICE[status] ?? "";
  throw new GateError(`the server answers ${status}${said}${advice && `\n  ${advice}`}`);
}

/** Writes one check on a line, and below it why it is not met. */
function lines({ rule, status, value, interval, baseline, difference, p_value: p, reason }) {
  const { metric, ...rest } = rule;
  const asked = Object.entries(rest).map(([name, given]) => `${name} ${given}`);
  const numbers = { value, baseline, difference, p };
  const found = Object.entries(numbers).filter(([, number]) => number !== null);
  const shown = found.map(([name, number]) => `${name} ${Number(number.toPrecision(6))}`);
  if (interval) shown.push(`interval ${interval.lower.toFixed(6)} to ${interval.upper.toFixed(6)}`);
  const line = `${status.padEnd(9)}  ${metric} (${asked.join(", ")}): ${shown.join(", ") || "no value"}`;
  return reason ? [line, `           ${reason}`] : [line];
}

async function main([rulesPath, scoresPath, ...options], environment) {
  if (!scoresPath) throw new GateError("give RULES.json and SCORES; see the head of this file");
  const server = environment.ROCPR_SERVER;
  if (!/^https?:\/\/./.test(server ?? "")) {
    throw new GateError("set ROCPR_SERVER, the address of a rocpr server: http://... or https://...");
  }
  const key = (environment.ROCPR_API_KEY ?? "").trim();
  if (/[^\x21-\x7e]/.test(key)) throw new GateError("ROCPR_API_KEY holds characters that are not allowed in a key");
  const asked = await request(server, rulesPath, scoresPath, options);
  const seconds = Number(environment.ROCPR_SECONDS || 120);
  const { status, checks, warnings } = verdict(await ask(asked, "application/json", key, seconds));
  for (const check of checks) console.log(lines(check).map(safe).join("\n"));
  for (const { code, detail } of warnings) console.log(safe(`warning    ${code}: ${detail}`));
  console.log(`Gate ${status}.`);
  const report = async (type, name) => {
    const answer = await ask(asked, type, key, seconds);
    if (answer.type === type) return answer.text;
    throw new GateError(`no ${name} from ${server} (status ${answer.status})`);
  };
  if (environment.GITHUB_STEP_SUMMARY) {
    await appendFile(environment.GITHUB_STEP_SUMMARY, await report("text/markdown", "Markdown"));
  }
  if (environment.ROCPR_PLOT) await writeFile(environment.ROCPR_PLOT, await report("image/svg+xml", "picture"));
  return STATUSES[status];
}

try {
  process.exitCode = await main(process.argv.slice(2), process.env);
} catch (error) {
  const message = error instanceof GateError ? error.message : String(error);
  console.error(`gate.mjs: ${message}`);
  process.exitCode = 3;
  if (process.env.GITHUB_STEP_SUMMARY) {
    const report = `### Gate not decided ❔\n\n${message.replace(/^/gm, "    ")}\n\n`;
    await appendFile(process.env.GITHUB_STEP_SUMMARY, report).catch(() => {});
  }
}
