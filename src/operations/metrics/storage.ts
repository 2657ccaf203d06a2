import { createFamily, type Family } from "../../core/metrics.ts";
import type { Store } from "../../database/store.ts";

/** Metric of whether check results can be stored. While they can't, monitors have no verdict. */
export const buildStorageFamily = ({ writes }: Pick<Store, "writes">): Family =>
  createFamily(
    "signalbox_storage_failing",
    "gauge",
    "1 while check results can't be stored, so that no monitor is judged.",
    writes.getFailingSince() === null ? 0 : 1,
  );
