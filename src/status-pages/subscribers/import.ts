/** Reads subscribers from a CSV text (RFC 4180), such as the export of the admin page. */
import { pageLanguages } from "../../core/languages.ts";
import { subscriberBounds } from "../../core/limits.ts";
import { findFirstIssue, invalidFieldError } from "../../core/validation.ts";
import { NewSubscriber } from "./schema.ts";

type Mailbox = Omit<Extract<NewSubscriber, { type: "email" }>, "type" | "confirmed">;

const columns = new Set(
  (
    "type address email url status language incidents minimumSeverity maintenance monitorIds groupIds frequency " +
    "createdAt confirmedAt lastDeliveryAt lastError"
  ).split(" "),
);

/** Returns the mailboxes, each once, and the number of skipped lines. Throws VALIDATION_ERROR, which names the line. */
export function parseSubscribers(csv: string): { mailboxes: Mailbox[]; skipped: number } {
  const [head = [], ...lines] = parseCsv(csv.replace(/^\uFEFF/, ""));
  const unknown = head.find((name) => !columns.has(name));
  if (unknown !== undefined)
    throw invalidFieldError("csv", `has an unknown column: ${unknown.slice(0, 40)}`);
  if (!head.includes("email") && !head.includes("address"))
    throw invalidFieldError("csv", "must start with a line that names the column email or address");
  const { value: most } = subscriberBounds.importedLines;
  if (lines.length > most) throw invalidFieldError("csv", `must have at most ${most} lines`);
  const mailboxes = new Map<string, Mailbox>();
  let skipped = 0;
  for (const [index, cells] of lines.entries()) {
    const mailbox = parseLine(head, cells, index + 2);
    if (mailbox === null) skipped++;
    else mailboxes.set(mailbox.email.toLowerCase(), mailbox);
  }
  return { mailboxes: [...mailboxes.values()], skipped };
}

/** Returns the mailbox of a line; null for a webhook, a chat, and an address that gets nothing at the moment. */
function parseLine(
  head: readonly string[],
  cells: readonly string[],
  line: number,
): Mailbox | null {
  if (cells.length !== head.length)
    throw invalidFieldError("csv", `must have ${head.length} values in line ${line}`);
  const record = new Map(head.map((name, index) => [name, cells[index]?.trim() ?? ""]));
  const valueOf = (name: string) => record.get(name) ?? "";
  if (!["", "email"].includes(valueOf("type"))) return null;
  if (!["", "confirmed"].includes(valueOf("status"))) return null;
  const idsOf = (name: string) => valueOf(name).split(/\s+/).filter(Boolean);
  const components = { monitorIds: idsOf("monitorIds"), groupIds: idsOf("groupIds") };
  const isWhole = components.monitorIds.length + components.groupIds.length === 0;
  const subscriber = {
    type: "email",
    // The export puts an apostrophe before addresses that a spreadsheet could read as a formula.
    email: (valueOf("email") || valueOf("address")).replace(/^'(?=[=+\-@])/, ""),
    confirmed: true,
    language:
      pageLanguages.find((tag) => tag === valueOf("language")) ?? (valueOf("language") || null),
    ...parseFlag("incidents", valueOf("incidents")),
    ...parseFlag("maintenance", valueOf("maintenance")),
    ...(valueOf("minimumSeverity") !== "" && { minimumSeverity: valueOf("minimumSeverity") }),
    components: isWhole ? null : components,
    ...(valueOf("frequency") !== "" && { frequency: valueOf("frequency") }),
  };
  const issue = findFirstIssue(NewSubscriber, subscriber);
  if (issue !== null)
    throw invalidFieldError("csv", `line ${line}, ${issue.path.join(".")}: ${issue.message}`);
  const {
    type: _type,
    confirmed: _confirmed,
    ...mailbox
  } = NewSubscriber.parse(subscriber) as Extract<NewSubscriber, { type: "email" }>;
  if (!mailbox.incidents && !mailbox.maintenance)
    throw invalidFieldError("csv", `line ${line}: incidents or maintenance must be true`);
  return mailbox;
}

const parseFlag = (name: string, text: string) =>
  text === "" ? {} : { [name]: text === "true" ? true : text === "false" ? false : text };

/** Parses CSV with quotes (RFC 4180). Leaves out empty lines. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let cells: string[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const found = pattern.exec(text);
    if (found === null)
      throw invalidFieldError("csv", `has a misplaced quote in line ${countLines(text, at)}`);
    const [, quoted, plain = "", end] = found;
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ",") {
      if (pattern.lastIndex === text.length) cells.push("");
      else continue;
    }
    if (cells.some((cell) => cell !== "")) rows.push(cells);
    cells = [];
  }
  return rows;
}

const countLines = (text: string, end: number) => text.slice(0, end).split("\n").length;
