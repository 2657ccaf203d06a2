import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { Heartbeat } from "../uptime/schema.ts";
import { checkNow, type CheckOnDemand, timeoutSeconds } from "./service.ts";

export const checkRoutes = ({ checkNow: run }: Pick<CheckOnDemand, "checkNow">) =>
  createRouter("/api/v1/monitors").post(
    ...defineEndpoint("/:id/check", {
      name: "checkNow",
      access: "write",
      limited: "monitor",
      timeoutSeconds,
      summary: "Check a monitor now",
      description:
        "Returns the heartbeat once it is stored. A running check is not started twice. Paused monitors and push monitors can't be checked. A key or person can run 4 checks at a time and 60 per minute, an organization 16 and 240. Further requests get 429.",
      data: Heartbeat,
      errors: ["CONFLICT"],
      handle: ({ scope, params }) => checkNow(scope, run, params.id),
    }),
  );
