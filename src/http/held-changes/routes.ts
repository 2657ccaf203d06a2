/** REST routes of held changes. */
import { Deleted } from "../../core/paging.ts";
import { defineEndpoint } from "../endpoint.ts";
import { createRouter } from "../request-context.ts";
import { HeldChange, HeldChangePage, HeldChangeQuery } from "./schema.ts";
import { getHeldChange, listHeldChanges, sendHeldChange, undoHeldChange } from "./service.ts";

export const heldChangeRoutes = createRouter("/api/v1/held-changes")
  .get(
    ...defineEndpoint("/", {
      name: "listHeldChanges",
      access: "read",
      limited: "filtered",
      summary: "List held changes",
      description: "Waiting changes and the outcomes of the last 24 hours, newest first.",
      query: HeldChangeQuery,
      response: HeldChangePage,
      handle: ({ scope, query }) => listHeldChanges(scope, query),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getHeldChange",
      access: "read",
      limited: "filtered",
      summary: "Get a held change",
      data: HeldChange,
      handle: ({ scope, params }) => getHeldChange(scope, params.id),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "undoHeldChange",
      access: "write",
      limited: "filtered",
      summary: "Undo a held change",
      description: "Possible until the change is sent. An undone change leaves no trace.",
      response: Deleted,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params }) => undoHeldChange(scope, params.id),
    }),
  )
  .post(
    ...defineEndpoint("/:id/send", {
      name: "sendHeldChange",
      access: "write",
      limited: "filtered",
      summary: "Send a held change now",
      description: "Ends the hold. The change is sent right after the response.",
      data: HeldChange,
      handle: ({ scope, params }) => sendHeldChange(scope, params.id),
    }),
  );
