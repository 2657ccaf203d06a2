import type { Limits } from "../../core/limits.ts";
import type { History, Plan } from "../plan.ts";
import type { ImportOptions } from "../prepare.ts";

/** The data of another program, while it is open. */
export type OpenSource = {
  plan: Plan;
  history: History | null;
  picture?: NonNullable<ImportOptions["picture"]>;
  close?: () => void | Promise<void>;
};

export type OpeningHere = {
  /** A folder for copies of files. */
  workIn: string;
  now: number;
  /** Values of the variables that a file can name. */
  variables: Readonly<Record<string, string | undefined>>;
  /** How many records the organization can have. */
  limits: Limits;
  /** Whether its files may name further files of this machine: never those of an upload. */
  readsNamedFiles: boolean;
  /** What people call the file; its base name otherwise. */
  name?: string;
};
