import { z } from "zod";
import { endpoint } from "../http/endpoint.ts";
import { routesUnder } from "../http/request-context.ts";
import { Attention, Problems } from "./problem-schema.ts";
import { attentionOf, failingChannels, problemsOf } from "./problem-store.ts";

export const problemRoutes = routesUnder("")
  .get(
    ...endpoint("/problems", {
      name: "listProblems",
      access: "read",
      summary: "Alert channels that fail, and what is wrong with the appliance itself",
      data: Problems,
      handle: async ({ scope }) => {
        const now = scope.clock();
        const [channels, appliance] = await Promise.all([
          failingChannels(scope, now),
          problemsOf(scope, now),
        ]);
        return { channels, appliance };
      },
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
