import { recordKey, tracesKey } from "../../data/keys.ts";
import { useQuery } from "@tanstack/react-query";
import { dashboard, v1 } from "../../data/client.ts";
import { dataQuery } from "../../data/query.ts";
import { useRecord } from "../../data/record.ts";

export const useIncident = (id: string) =>
  useRecord(
    "incident",
    id,
    dataQuery(recordKey("incident", id), (options) => v1.incidents({ id }).get(options)),
  );

/** Who wrote its updates and who was told, which what was sent changes, too. */
export const useTraces = (id: string) =>
  useQuery(
    dataQuery([...tracesKey, id], (options) => dashboard.incidents({ id }).traces.get(options)),
  );
