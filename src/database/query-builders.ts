import { type AsyncRemoteCallback, drizzle } from "drizzle-orm/sqlite-proxy";
import type { Store } from "./store.ts";

type Prepared = object;
type Session = { prepareQuery(...given: unknown[]): Prepared };

/** Drizzle's builders over whatever reads rows. */
export function queryBuilders(read: AsyncRemoteCallback): Store["db"] {
  const db = drizzle(read);
  const { session } = db as unknown as { session: Session };
  const prepare = session.prepareQuery.bind(session);
  // Drizzle wraps what reading throws, so that nobody knows it again, and puts the parameters into its text.
  const queryWithCache = (_text: string, _parameters: unknown, query: () => unknown) => query();
  session.prepareQuery = (...given) => Object.assign(prepare(...given), { queryWithCache });
  return db;
}
