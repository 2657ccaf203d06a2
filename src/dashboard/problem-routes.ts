import { z } from "zod";
import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import { Attention, Problems } from "./problem-schema.ts";
import { listProblems } from "./problem-service.ts";
import { findAttention } from "./problem-store.ts";

export const problemRoutes = createRouter("")
  .get(
    ...defineEndpoint("/problems", {
      name: "listProblems",
      access: "read",
      limited: "filtered",
      summary: "List failing alert channels and problems of the appliance",
      data: Problems,
      handle: ({ scope }) => listProblems(scope),
    }),
  )
  .get(
    ...defineEndpoint("/attention", {
      name: "listAttention",
      access: "read",
      limited: "filtered",
      summary: "List the recipients of alerts about down or degraded monitors",
      data: z.array(Attention),
      handle: ({ scope }) => findAttention(scope),
    }),
  );
