import { importBounds } from "../../core/limits.ts";
import { formatCount } from "../../core/text/formatting.ts";
import { createUnreadableError } from "../limits.ts";
import type { SourceOptions, OpenSource } from "./open-source.ts";
import type { Plan } from "../plan.ts";
import type { ImportSource } from "../schema.ts";

/** Opens a source in this process. Throws VALIDATION_ERROR and BAD_REQUEST for an unreadable one. */
export async function openHere(
  source: ImportSource,
  from: string,
  { workIn, now, variables, limits, readsNamedFiles, name }: SourceOptions,
): Promise<OpenSource> {
  if (source === "gatus") {
    const { buildGatusPlan } = await import("../gatus/plan.ts");
    const options = { now, limits, readsNamedFiles, ...(name !== undefined && { name }) };
    const plan = await buildGatusPlan(from, variables, options);
    assertRecordLimit(plan);
    return { plan, history: null };
  }
  if (source === "healthchecks") {
    const { buildHealthchecksPlan } = await import("../healthchecks/plan.ts");
    const plan = await buildHealthchecksPlan(from, name);
    assertRecordLimit(plan);
    return { plan, history: null };
  }
  const { openKuma } = await import("../kuma/open.ts");
  const { buildKumaPlan } = await import("../kuma/plan.ts");
  const opened = await openKuma(from, workIn, name);
  try {
    return {
      plan: buildKumaPlan(opened, now),
      history: opened.history,
      picture: (path) => opened.picture(path),
      close: () => opened.close(),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function assertRecordLimit({ product, records, notTaken }: Plan) {
  const count = records.length + notTaken.length;
  const maxRecords = importBounds.records.value;
  if (count > maxRecords)
    throw createUnreadableError(
      product,
      `it has ${formatCount(count)} records, at most ${formatCount(maxRecords)} can be imported.`,
    );
}
