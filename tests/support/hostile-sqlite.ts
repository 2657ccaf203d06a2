/** Crafts SQLite files that take forever to read, for tests of imports. */
import { Database } from "bun:sqlite";
import { readFileSync, writeFileSync } from "node:fs";

/** A leaf page of a table with many rows without any values. */
function buildEmptyRows(pageBytes: number, rows: number): Buffer {
  const page = Buffer.alloc(pageBytes);
  page[0] = 0x0d;
  page.writeUInt16BE(rows, 3);
  let at = pageBytes;
  for (let row = 0; row < rows; row++) {
    at -= 4;
    // A payload of two bytes, the row's id, and a record whose only value is null.
    page.set([2, 1 + (row % 127), 2, 0], at);
    page.writeUInt16BE(at, 8 + 2 * row);
  }
  page.writeUInt16BE(at, 5);
  return page;
}

/** An interior page that names the same child very often. `from` is the offset of its header. */
function buildSameChild(pageBytes: number, child: number, children: number, from = 0): Buffer {
  const page = Buffer.alloc(pageBytes);
  page[from] = 0x05;
  page.writeUInt16BE(children, from + 3);
  page.writeUInt32BE(child, from + 8);
  let at = pageBytes;
  for (let cell = 0; cell < children; cell++) {
    at -= 5;
    page.writeUInt32BE(child, at);
    page[at + 4] = 1 + (cell % 127);
    page.writeUInt16BE(at, from + 12 + 2 * cell);
  }
  page.writeUInt16BE(at, from + 5);
  return page;
}

/**
 * Makes a table endless: its pages name the same child `children` times, `levels` deep. The last
 * level has rows without values, or the rows of the table.
 */
export function writeEndlessTable(
  file: string,
  table: string,
  {
    levels,
    children = 339,
    rows = null,
  }: { levels: number; children?: number; rows?: number | null },
) {
  const database = new Database(file);
  database.run("pragma journal_mode = delete");
  // A count would read an index instead of the table.
  for (const name of listIndexes(database, table)) database.run(`drop index "${name}"`);
  const { page_size: pageBytes } = database.query("pragma page_size").get() as {
    page_size: number;
  };
  const { rootpage } = database
    .query("select rootpage from sqlite_schema where type = 'table' and name = ?")
    .get(table) as { rootpage: number };
  database.close();
  const bytes = readFileSync(file);
  const pages: Buffer[] = [];
  const count = bytes.length / pageBytes;
  const add = (page: Buffer) => count + pages.push(page);
  const at = (rootpage - 1) * pageBytes;
  const root = Buffer.from(bytes.subarray(at, at + pageBytes));
  let child = add(
    rows === null ? findFirstLeaf(bytes, root, pageBytes) : buildEmptyRows(pageBytes, rows),
  );
  for (let level = 1; level < levels; level++)
    child = add(buildSameChild(pageBytes, child, children));
  buildSameChild(pageBytes, child, children).copy(bytes, at);
  const contents = Buffer.concat([bytes, ...pages]);
  contents.writeUInt32BE(count + pages.length, 28);
  writeFileSync(file, contents);
}

const listIndexes = (database: Database, table: string) =>
  database
    .query<{ name: string }, [string]>(
      "select name from sqlite_schema where type = 'index' and tbl_name = ? and sql is not null",
    )
    .all(table)
    .map(({ name }) => name);

function findFirstLeaf(bytes: Buffer, page: Buffer, pageBytes: number): Buffer {
  if (page[0] !== 0x05) return page;
  const child = page.readUInt32BE(page.readUInt16BE(12));
  const at = (child - 1) * pageBytes;
  return findFirstLeaf(bytes, bytes.subarray(at, at + pageBytes), pageBytes);
}

/** The same for the list of tables itself, which is on the first page. */
export function writeEndlessSchema(file: string) {
  const bytes = readFileSync(file);
  const pageBytes = bytes.readUInt16BE(16);
  const count = bytes.length / pageBytes;
  const levels = [5, 4, 3, 2, 1].map((level) =>
    level === 1
      ? buildEmptyRows(pageBytes, 300)
      : buildSameChild(pageBytes, count + 7 - level, 339),
  );
  const first = buildSameChild(pageBytes, count + 1, 339, 100);
  bytes.copy(first, 0, 0, 100);
  const whole = Buffer.concat([first, bytes.subarray(pageBytes), ...levels]);
  whole.writeUInt32BE(whole.length / pageBytes, 28);
  writeFileSync(file, whole);
}
