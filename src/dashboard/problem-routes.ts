import { z } from "zod";
import { endpoint } from "../http/endpoint.ts";
import { routesUnder } from "../http/request-context.ts";
import { Attention, Problems } from "./problem-schema.ts";
import { listProblems } from "./problem-service.ts";
import { attentionOf } from "./problem-store.ts";

export const problemRoutes = routesUnder("")
  .get(
    ...endpoint("/problems", {
      name: "listProblems",
      access: "read",
      summary: "Alert channels that fail, and what is wrong with the appliance itself",
      data: Problems,
      handle: ({ scope }) => listProblems(scope),
    }),
  )
  .get(
    ...endpoint("/attention", {
      name: "listAttention",
      access: "read",
      summary: "Who was told of monitors that are down or degraded",
      data: z.array(Attention),
      handle: ({ scope }) => attentionOf(scope),
    }),
  );
