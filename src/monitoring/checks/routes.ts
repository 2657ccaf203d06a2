import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { Heartbeat } from "../uptime/schema.ts";
import { checkNow, type CheckOnDemand, timeoutSeconds } from "./service.ts";

export const checkRoutes = ({ checkNow: run }: Pick<CheckOnDemand, "checkNow">) =>
  createRouter("/api/v1/monitors").post(
    ...defineEndpoint("/:id/check", {
      name: "checkNow",
      access: "write",
      timeoutSeconds,
      summary: "Check a monitor now",
      description:
        "Answers its heartbeat once that is stored. A check that is under way already is not made twice. A paused monitor and a push monitor can't be checked. One key or person has at most 4 at a time and 60 a minute, an organization 16 and 240: beyond, 429.",
      data: Heartbeat,
      errors: ["CONFLICT"],
      handle: ({ scope, params }) => checkNow(scope, run, params.id),
    }),
  );
