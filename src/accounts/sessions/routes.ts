import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { SessionEntry } from "./schema.ts";
import { endOtherSessions, endSession, listSessions } from "./service.ts";

export const sessionRoutes = createRouter("/sessions")
  .get(
    ...defineEndpoint("/", {
      name: "listSessions",
      access: "person",
      summary: "List the browsers in which you are signed in",
      data: z.array(SessionEntry),
      handle: ({ context }) => listSessions(context),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "endSession",
      access: "person",
      summary: "Sign out one browser",
      response: Deleted,
      handle: ({ context, params }) => endSession(context, params.id),
    }),
  )
  .post(
    ...defineEndpoint("/end-others", {
      name: "endOtherSessions",
      access: "person",
      summary: "Sign out everywhere else",
      data: z.array(SessionEntry),
      handle: async ({ context }) => {
        await endOtherSessions(context);
        return listSessions(context);
      },
    }),
  );
