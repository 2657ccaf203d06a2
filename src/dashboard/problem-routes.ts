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
      summary: "List failing alert channels and problems of the appliance",
      data: Problems,
      handle: ({ scope }) => listProblems(scope),
    }),
  )
  .get(
    ...endpoint("/attention", {
      name: "listAttention",
      access: "read",
      summary: "List the recipients of alerts about down or degraded monitors",
      data: z.array(Attention),
      handle: ({ scope }) => attentionOf(scope),
    }),
  );
