import type { Limits } from "../core/limits.ts";
import type { History, Plan } from "./plan.ts";
import type { ImportOptions } from "./prepare.ts";
import type { ImportSource } from "./schema.ts";

/** What another tool has, for as long as it is open. */
export type OpenSource = {
  plan: Plan;
  history: History | null;
  picture?: NonNullable<ImportOptions["picture"]>;
  close?: () => void | Promise<void>;
};

type Opening = {
  /** A folder for what it takes to read it. */
  workIn: string;
  now: number;
  /** What its files may name. */
  variables: Readonly<Record<string, string | undefined>>;
  /** How many records the organization can have. */
  limits: Limits;
  /** Whether its files may name further files of this machine: never those of an upload. */
  readsNamedFiles: boolean;
  /** What people call the file; its base name otherwise. */
  name?: string;
};

/** Throws VALIDATION_ERROR and BAD_REQUEST for what can't be read. */
export async function openSource(
  source: ImportSource,
  from: string,
  { workIn, now, variables, limits, readsNamedFiles, name }: Opening,
): Promise<OpenSource> {
  // What reads files is loaded with the first one.
  if (source === "gatus") {
    const { gatusPlan } = await import("./gatus/plan.ts");
    const options = { now, limits, readsNamedFiles, ...(name !== undefined && { name }) };
    return { plan: await gatusPlan(from, variables, options), history: null };
  }
  const { openKuma } = await import("./kuma/open.ts");
  const { planOf } = await import("./kuma/plan.ts");
  const opened = await openKuma(from, workIn);
  return {
    plan: planOf(opened, now),
    history: opened.history,
    picture: (path) => opened.picture(path),
    close: () => opened.close(),
  };
}
