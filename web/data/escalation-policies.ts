import { useQuery } from "@tanstack/react-query";
import { v1 } from "./client.ts";
import { listKey } from "./keys.ts";
import { createDataQuery } from "./query.ts";

/** All escalation policies, by name. */
export const useEscalationPolicies = () =>
  useQuery(
    createDataQuery(listKey("escalation-policy"), (options) =>
      v1["escalation-policies"].get(options),
    ),
  );
