import { expect, test } from "bun:test";
import type { AuditEntry } from "../../../src/operations/audit-log/schema.ts";
import { formatLine } from "../../../src/operations/audit-log/rules.ts";
import { testAppliance } from "../../support/appliance.ts";
import { createSampleRecord } from "../../support/records.ts";
import { signInMember } from "../../support/people.ts";

const log = "/dashboard/audit-log";

test("the audit log is downloaded in full, oldest first, and each line is as in the API", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin");
  await createSampleRecord(appliance.theirs.api, "incidents", { title: "Their secret" });
  for (let i = 0; i < 450; i++)
    await createSampleRecord(appliance.ours.api, "monitor-groups", { name: `${i}` });
  const { text, headers } = await page("GET", `${log}/export.jsonl`);
  expect(headers.get("content-type")).toBe("application/x-ndjson");
  expect(headers.get("content-disposition")).toBe(
    'attachment; filename="audit-log-2026-11-20.jsonl"',
  );
  expect(headers.get("cache-control")).toBe("no-store");
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditEntry);
  const entries: AuditEntry[] = [];
  for (let number = 1; entries.length < lines.length; number++) {
    const { data } = (await page("GET", `${log}?per_page=100&page=${number}`)).json;
    if (data.length === 0) break;
    entries.push(...data);
  }
  expect(lines).toEqual(entries.toReversed());
  expect(lines.length).toBeGreaterThan(450);
  const csv = (await page("GET", `${log}/export.csv`)).text.split("\r\n");
  expect(csv[0]).toBe(
    "id,at,actorType,actorId,actorName,action,subjectId,subjectName,fields,changes,tool",
  );
  expect(csv).toHaveLength(lines.length + 2);
  expect(text + csv.join("")).not.toContain("Their secret");
});

test("in CSV no text breaks its cell or is a formula", () => {
  const buildEntry = (name: string): AuditEntry => ({
    id: "1",
    at: "2026-11-20T10:00:00.000Z",
    actor: { type: "person", id: null, name },
    action: "group.created",
    tool: null,
    subjectId: "g",
    subjectName: null,
    subjectOrigin: null,
    subjectExists: true,
    restorable: false,
    fields: ["name", "color"],
    changes: [{ field: "color", before: null, after: "red", truncated: [] }],
    names: {},
    repeated: null,
  });
  const buildCell = (name: string) => formatLine("csv", buildEntry(name));
  const buildLine = (name: string) =>
    `1,2026-11-20T10:00:00.000Z,person,,${name},group.created,g,,name color,color: null → red,\r\n`;
  expect(buildCell("Ada")).toBe(buildLine("Ada"));
  expect(buildCell('Ada "The Countess", L.\nB.')).toBe(buildLine('"Ada ""The Countess"", L.\nB."'));
  const formulas = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "＝1+1",
    "＋1",
    "－1",
    "＠SUM(A1)",
    "\u200b=1",
  ];
  for (const formula of formulas) expect(buildCell(formula)).toBe(buildLine(`'${formula}`));
  expect(buildCell('=HYPERLINK("http://x")')).toBe(buildLine(`"'=HYPERLINK(""http://x"")"`));
});

test("the export is for admins, and stops when they lose the role", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "member");
  for (const format of ["csv", "jsonl"])
    expect((await page("GET", `${log}/export.${format}`)).status).toBe(403);

  const { cookie, id } = await signInMember(appliance, "admin");
  for (let i = 0; i < 900; i++)
    await createSampleRecord(appliance.ours.api, "monitor-groups", { name: `${i}` });
  const response = await appliance.app.handle(
    new Request(`http://localhost${log}/export.jsonl`, {
      headers: { Host: "localhost", Cookie: cookie },
    }),
  );
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect((await reader.read()).done).toBe(false);
  appliance.database.run("UPDATE memberships SET role = 'member' WHERE person_id = ?", [id]);
  const readRest = async () => {
    while (!(await reader.read()).done);
  };
  expect(readRest()).rejects.toThrow("may no longer download");
});
