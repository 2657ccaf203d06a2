import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readConfigurations } from "../../src/configuration/files/read.ts";
import { InvalidFiles } from "../../src/core/text/yaml.ts";
import { validationError } from "../../src/core/validation.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

function writeFolder(files: Record<string, string>): string {
  const folder = newDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const read = async (files: Record<string, string>, variables: Record<string, string> = {}) =>
  (await readConfigurations(writeFolder(files), variables)).map(({ document }) => document);

/** Error messages about unreadable files, without their folder. */
async function readFailure(files: Record<string, string>): Promise<string> {
  const folder = writeFolder(files);
  const error = await readConfigurations(folder, { EMPTY: "" }).then(
    () => null,
    (reason: Error) => reason,
  );
  expect(error).toBeInstanceOf(InvalidFiles);
  return (error as InvalidFiles).message.replaceAll(`${folder}/`, "");
}

const bomb = [
  "x-0: &a0 [x, x, x, x, x, x, x, x, x, x]",
  ...Array.from(
    { length: 9 },
    (_, index) => `x-${index + 1}: &a${index + 1} [${Array(10).fill(`*a${index}`).join(", ")}]`,
  ),
].join("\n");

const wrong: [what: string, text: string, said: RegExp][] = [
  [
    "a duplicate key",
    "monitors:\n  a: { type: tcp }\n  a: { type: http }\n",
    /^a\.yaml:3:3: this key is there twice$/,
  ],
  ["invalid YAML", "monitors:\n  a: [1\nb: 2\n", /^a\.yaml:3:1: /],
  ["a bomb of aliases", bomb, /^a\.yaml:\d+:\d+: aliases expand to too many values$/],
  ["an alias of itself", "x-a: &a\n  b: *a\n", /^a\.yaml:2:6: contains itself$/],
  ["an alias of nothing", "monitors:\n  a: *none\n", /^a\.yaml:2:6: /],
  [
    "a whole number that would be rounded",
    "monitors:\n  a: {x: 9007199254740993}\n",
    /^a\.yaml:2:10: has more digits than a number can hold: write it as text, in quotes$/,
  ],
  ["endless brackets", `x-a: ${"[".repeat(30_000)}`, /^a\.yaml:1:/],
  ["endless maps", `x-a: ${"{a: ".repeat(40)}1${"}".repeat(40)}`, /deeper than 30/],
  [
    "an unset variable",
    "monitors:\n  a:\n    url: http://${HOST}/\n",
    /^a\.yaml:3:10: the variable HOST is not set$/,
  ],
  [
    "a variable with the name of an object's property",
    "x-a: ${constructor}",
    /^a\.yaml:1:6: the variable constructor is not set$/,
  ],
  ["half a variable", "x-a: ${HOST", /^a\.yaml:1:6: \$\{ has no \}/],
  ["an odd variable", "x-a: ${a b}", /^a\.yaml:1:6: /],
  [
    "a missing file",
    "x-a: ${file:none.txt}",
    /^a\.yaml:1:6: the file none\.txt can't be read: \S*none\.txt does not exist$/,
  ],
  ["a list", "- a\n", /^a\.yaml:1:1: must be a map/],
  ["a tag of another program", "x-a: !!js/function x\n", /^a\.yaml:1:6: /],
  ["two documents", "x-a: 1\n---\nx-b: 2\n", /^a\.yaml:2:1: has several documents/],
  ["a tab", "monitors:\n\ta: 1\n", /^a\.yaml:2:1: is indented by a tab: YAML allows spaces only$/],
  [
    "a configuration of Gatus",
    "endpoints: []\n",
    /^a\.yaml:1:1: is a configuration of Gatus: `signalbox import gatus FILE --org SLUG` imports it$/,
  ],
  ["a compose file", "services: {web: {image: x}}\n", /^a\.yaml:1:1: is a compose file/],
];

describe("an invalid file is reported with position and reason:", () => {
  test.each(wrong)("%s", async (_what, text, output) => {
    expect(await readFailure({ "a.yaml": text })).toMatch(output);
  });

  test("a key that is also in another file", async () => {
    const a = "monitors:\n  shop: { type: tcp }\n";
    const b = "# more\nmonitors:\n  other: { type: tcp }\n  shop: { type: tcp }\n";
    expect(await readFailure({ "a.yaml": a, "b.yml": b })).toBe(
      "b.yml:4:3: monitors.shop is in another file, too",
    );
  });
});

test.each([
  ['{"monitors": {},}', "1:16"],
  ['{"monitors":\n {"a": {"type": "push", "tags": ["a,]", "b" ,\n]}}}', "2:45"],
])("JSON with a comma before a closing bracket is rejected at its position", async (text, at) => {
  const file = join(writeFolder({ "a.json": text }), "a.json");
  const error = await readConfigurations(file, {}).catch((reason: Error) => reason);
  expect((error as Error).message).toBe(
    `${file}:${at}: is a comma before a closing bracket: JSON allows none`,
  );
});

test("JSON with commas and brackets in its texts is read", async () => {
  const document = { "x-a": ["a,]", '\\",}', "b"] };
  const file = join(writeFolder({ "a.json": JSON.stringify(document) }), "a.json");
  expect((await readConfigurations(file, {}))[0]?.document).toEqual(document);
});

test("field errors of REST are reported at their position in the files", async () => {
  const folder = writeFolder({
    "a.yaml": "monitors:\n  shop:\n    type: http\n    tags:\n      - one\n      - ''\n",
  });
  const [configuration] = await readConfigurations(folder, {});
  const error = validationError(
    [
      "monitors.shop.tags[1]",
      "monitors.shop.url",
      "monitors.shop.headers.X-A",
      // A name contains brackets, or a path is shortened.
      "monitors.shop.a[b",
      "monitors.shop.tags[1…",
      "a]b.[c",
    ].map((path) => ({ path, message: "is wrong" })),
  );
  expect(configuration?.located(error)).toMatchObject({
    issues: [
      { position: { line: 6, column: 9 } },
      { position: { line: 2, column: 3 } },
      { position: { line: 2, column: 3 } },
      { position: { line: 2, column: 3 } },
      { position: { line: 4, column: 5 } },
      { position: { line: 1, column: 1 } },
    ],
  });
});

test("variables, files and escaped dollars are replaced; numbers only in fields that accept no text", async () => {
  const config = `
monitors:
  shop:
    type: http
    name: \${NAME}
    url: "https://\${HOST:-shop.example}/\${EMPTY:-a}?q=$$\${PORT}$1"
    bearerToken: \${file:secret/token}
    interval: \${INTERVAL}
    verifyTls: \${VERIFY}
    expectedStatus: ["\${STATUS}"]
`;
  expect(
    await read(
      { "a.yaml": config, "secret/token": "s3cret\n" },
      { NAME: "007", EMPTY: "", PORT: "80", INTERVAL: "30", VERIFY: "false", STATUS: "204" },
    ),
  ).toEqual([
    {
      monitors: {
        shop: {
          type: "http",
          name: "007",
          url: "https://shop.example/a?q=$80$1",
          bearerToken: "s3cret",
          interval: 30,
          verifyTls: false,
          expectedStatus: ["204"],
        },
      },
    },
  ]);
});

test("files of a folder form one configuration per source and organization, with merges and anchors", async () => {
  const documents = await read({
    "a.yaml":
      "x-base: &base { type: tcp, port: 1 }\nmonitors:\n  a: { <<: *base, host: a.example, port: 2 }\n",
    "b.yml": "monitors:\n  b: { type: ntp, host: b.example }\n",
    "c.yaml": "source: other\norganization: acme\nmonitors: {}\n",
    "empty.yaml": "# nothing yet\n",
    "notes.txt": "monitors: none",
  });
  expect(documents).toMatchObject([
    {
      monitors: {
        a: { type: "tcp", port: 2, host: "a.example" },
        b: { type: "ntp", host: "b.example" },
      },
    },
    { source: "other", organization: "acme", monitors: {} },
  ]);
});
