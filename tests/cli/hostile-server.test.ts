import { afterAll, expect, spyOn, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { createCommandLine, runCommandLine } from "../../src/cli/support/command-line.ts";
import { createScratch } from "../support/scratch-directories.ts";

const folder = createScratch();
const id = "0199a3f0-5c1e-7cc0-b1a5-3f2d8e6a9b10";
/** Clears the screen, sets the title, ends a line, reverses the text direction. */
const hostile = "\x1b[2J\x1b]0;x\x07\r\x9b31m\x7f\u202eend";
const at = "2026-11-20T23:02:00.000Z";

/** A response to any request. */
const record = {
  id,
  name: `n${hostile}`,
  title: `t${hostile}`,
  status: "down",
  state: "running",
  severity: hostile,
  type: hostile,
  message: hostile,
  lastMessage: hostile,
  statusSince: at,
  createdAt: at,
  startsAt: at,
  noun: "monitor",
  rrule: null,
  current: { endsAt: at },
  latencyMs: 5,
  pushUrl: "http://other.lan/push/token",
  source: hostile,
  applied: false,
  unchanged: 0,
  changes: [
    {
      section: hostile,
      key: hostile,
      id,
      name: hostile,
      action: "update",
      fields: [{ field: hostile, secret: false, before: hostile, after: hostile }],
    },
  ],
  document: { source: hostile, monitors: { a: { type: "http", body: hostile } } },
  secrets: [{ path: ["monitors", "a", hostile], variable: hostile }],
};
const refusal = {
  error: { code: "CONFLICT", message: hostile, details: [{ path: hostile, message: hostile }] },
};

const lists = /\/(deleted-records|monitors|incidents|maintenance-windows|monitor-groups)$/;
let refuses = false;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    if (refuses) return Response.json(refusal, { status: 409 });
    const isList = request.method === "GET" && lists.test(new URL(request.url).pathname);
    return Response.json({ data: isList ? [record] : record, meta: { total: 1 } });
  },
});

afterAll(() => server.stop(true));

/** Arguments of each client command except `login`, which shows nothing from the server. */
const commands: Record<string, string[]> = {
  status: [],
  "incident open": ["title"],
  "incident update": ["t", "--message", "m"],
  "incident resolve": ["t"],
  "monitor list": [],
  "monitor pause": ["n"],
  "monitor resume": ["n"],
  "monitor check": ["n"],
  "monitor set": ["down", "n"],
  watch: ["OTHER", "--other-key-file", "KEY"],
  "maintenance start": ["title", "--for", "5m", "--monitor", "n"],
  "maintenance end": ["t"],
  "deleted list": [],
  "deleted restore": ["n"],
  apply: ["-f", "a.yaml"],
  export: [],
};

const asksServer = ({ options }: Command) => options.some(({ long }) => long === "--key-file");
const namesOf = (command: Command, before: string): string[] =>
  command.commands.flatMap((one) => {
    const name = `${before}${one.name()}`;
    return [...(asksServer(one) ? [name] : []), ...namesOf(one, `${name} `)];
  });

test("every client command is covered", async () => {
  expect(namesOf(await createCommandLine(), "").sort()).toEqual(
    [...Object.keys(commands), "login"].sort(),
  );
});

for (const [name, args] of Object.entries(commands))
  test(`${name} shows no terminal escape codes of a hostile server`, async () => {
    const file = join(folder(), "a.yaml");
    writeFileSync(file, "monitors: {}\n");
    const keyFile = join(folder(), "key");
    writeFileSync(keyFile, `sbx_${"b".repeat(43)}`);
    const other = `http://localhost:${server.port}`;
    const files: Record<string, string> = { "a.yaml": file, KEY: keyFile, OTHER: other };
    const filledArgs = args.map((one) => files[one] ?? one);
    for (const json of [[], ["--json"]])
      for (refuses of [false, true]) {
        let output = "";
        const take = (text: string | Uint8Array) => (output += String(text)) !== "";
        const spies = [process.stdout, process.stderr].map((stream) =>
          spyOn(stream, "write").mockImplementation(take as never),
        );
        const address = ["--server", `http://127.0.0.1:${server.port}`];
        const key = ["--key", `sbx_${"a".repeat(43)}`];
        try {
          await runCommandLine([...name.split(" "), ...filledArgs, ...address, ...key, ...json]);
        } finally {
          for (const spy of spies) spy.mockRestore();
        }
        expect(output).not.toBe("");
        // YAML contains people's text, including direction marks.
        const isYaml = json.length === 0 && name === "export";
        expect(output).not.toMatch(isYaml ? /[^\P{Cc}\n\t]/u : /[^\P{Cc}\n\t]|[\u202a-\u202e]/u);
      }
  });

const mib = 1024 * 1024;
const page = JSON.stringify({
  data: Array.from({ length: 100 }, () => ({ ...record, name: "n".repeat(mib / 20) })),
  meta: { total: Number.MAX_SAFE_INTEGER },
});
/** Endless responses, and responses that decompress endlessly. */
const endless: Record<string, () => Response> = {
  "a body": () =>
    new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(mib).fill(32)) })),
  "a compressed body": () =>
    new Response(Bun.gzipSync(new Uint8Array(80 * mib)), {
      headers: { "Content-Encoding": "gzip" },
    }),
  "pages of a list": () => new Response(page),
};

for (const [what, answer] of Object.entries(endless))
  test(`an endless response of ${what} is aborted soon`, async () => {
    using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: answer,
    });
    let output = "";
    const spy = spyOn(process.stderr, "write").mockImplementation(
      (text) => (output += String(text)) !== "",
    );
    try {
      const args = [
        "--server",
        `http://127.0.0.1:${server.port}`,
        "--key",
        `sbx_${"a".repeat(43)}`,
      ];
      expect(await runCommandLine(["monitor", "list", ...args])).toBe(6);
    } finally {
      spy.mockRestore();
    }
    expect(output).toContain("sends an endless response");
  });
