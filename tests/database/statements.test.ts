import { Database } from "bun:sqlite";
import { Glob } from "bun";
import { expect, test } from "bun:test";
import { createStatements } from "../../src/database/file/embedded.ts";

function createFruits() {
  const database = new Database(":memory:", { strict: true });
  database.run("create table fruits (name text, weight integer)");
  const statements = createStatements(database);
  for (const [name, weight] of [
    ["fig?", 3],
    ["plum", 40],
    ["pear", 200],
  ] as const)
    statements("insert into fruits values (?, ?)").run(name, weight);
  return statements;
}

test("no parameter is left for the query planner, whose statements SQLite compiles for each value", () => {
  const statements = createFruits();
  const text = `select name, '?' as "is it?" from fruits where weight > ?2 and name <> ?1 limit ?3`;
  const statement = statements(text);
  expect(statement.all("plum", 2, 10)).toEqual([
    { name: "fig?", "is it?": "?" },
    { name: "pear", "is it?": "?" },
  ]);
  expect(statement.all("pear", 3, 1)).toEqual([{ name: "plum", "is it?": "?" }]);
  expect(String(statement)).toBe(
    `select name, '?' as "is it?" from fruits where weight > +3 and name <> +'pear' limit +1`,
  );
  expect(statements(text)).toBe(statement);
});

test("values keep their type, also as null, negative and as text of digits", () => {
  const types = createFruits()("select typeof(?), typeof(?), typeof(?), typeof(?), -?");
  expect(types.values(null, "12", -1.5, 7, -3)).toEqual([["null", "text", "real", "integer", 3]]);
});

test("more statements than the cache has room for leave all of them usable", () => {
  const statements = createFruits();
  const readHeld = () => statements("select weight from fruits where name = ?").values("plum");
  for (let index = 0; index < 1_100; index++)
    expect(statements(`select ${index} + ?`).values(1)).toEqual([[index + 1]]);
  expect(readHeld()).toEqual([[40]]);
});

test("each column that a statement names for the program is read there", async () => {
  const files = [...new Glob("src/**/*.ts").scanSync()];
  const sources = await Promise.all(files.map((file) => Bun.file(file).text()));
  const named = sources.flatMap((text) =>
    [...text.matchAll(/\bas ([a-z]+[A-Z]\w*)/g)].map(([, name = ""]) => name),
  );
  const others = new Set(
    sources
      .join("\n")
      .replace(/\bas [a-z]\w*/g, "")
      .match(/\w+/g),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((name) => !others.has(name))).toEqual([]);
});
