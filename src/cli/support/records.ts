/** Finds records of a server by ID, name or the beginning of a name. */
import { AppError } from "../../core/errors.ts";
import { excerptText, excerptName } from "../../core/text/formatting.ts";
import { fetchAllPages, type Client, unwrapData } from "./client.ts";

const isId = (words: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(words);

/**
 * Returns the only record with this name. If there is none, ignores case, and then accepts the
 * beginning of a name. Throws NOT_FOUND, and VALIDATION_ERROR that lists all matches.
 */
export function findByName<T extends { id: string }>(
  noun: string,
  words: string,
  records: readonly T[],
  nameOf: (record: T) => string,
): T {
  const lower = words.toLowerCase();
  const matches = [
    (name: string) => name === words,
    (name: string) => name.toLowerCase() === lower,
    (name: string) => name.toLowerCase().startsWith(lower),
  ];
  for (const isMatch of matches) {
    const [first, ...others] = records.filter((record) => isMatch(nameOf(record)));
    if (first === undefined) continue;
    if (others.length === 0) return first;
    const all = [first, ...others].slice(0, 10);
    const names = all.map((record) => `\n  ${record.id}  ${excerptName(nameOf(record), 255)}`);
    const more = others.length + 1 - all.length;
    throw new AppError(
      "VALIDATION_ERROR",
      `“${excerptText(words)}” is no single ${noun}. It could be:${names.join("")}${more > 0 ? `\n  and ${more} more` : ""}\nGive more of the name, or the id.`,
    );
  }
  throw new AppError(
    "NOT_FOUND",
    `There is no ${noun} whose name is or begins with “${excerptText(words)}”.`,
  );
}

async function findMonitor({ v1 }: Client, words: string) {
  if (isId(words)) return unwrapData(v1.monitors({ id: words }).get());
  const found = await fetchAllPages((page) => v1.monitors.get({ query: { ...page, q: words } }));
  return findByName("monitor", words, found, ({ name }) => name);
}

export const findMonitors = (client: Client, all: readonly string[]) =>
  Promise.all(all.map((words) => findMonitor(client, words)));

export async function findGroup({ v1 }: Client, words: string) {
  if (isId(words)) return unwrapData(v1["monitor-groups"]({ id: words }).get());
  const found = await unwrapData(v1["monitor-groups"].get());
  return findByName("monitor group", words, found, ({ name }) => name);
}

/** Finds any incident by ID, or an open one by title. */
export async function findIncident({ v1 }: Client, words: string) {
  if (isId(words)) return unwrapData(v1.incidents({ id: words }).get());
  const found = await fetchAllPages((page) =>
    v1.incidents.get({ query: { ...page, q: words, open: "true" } }),
  );
  return findByName("open incident", words, found, ({ title }) => title);
}

/** Finds any maintenance window by ID, or a running one by title. */
export async function findWindow({ v1 }: Client, words: string) {
  if (isId(words)) return unwrapData(v1["maintenance-windows"]({ id: words }).get());
  const found = await fetchAllPages((page) =>
    v1["maintenance-windows"].get({ query: { ...page, state: "running" } }),
  );
  return findByName("maintenance window under way", words, found, ({ title }) => title);
}
