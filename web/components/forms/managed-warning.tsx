import { Alert } from "@mantine/core";
import { type ManagedAs, useManaged } from "../../data/managed.ts";

/** Warns in an editor that the next run of the configuration overwrites the edit. */
export function ManagedWarning({ what }: { what: ManagedAs }) {
  const managed = useManaged(what);
  if (managed === null) return null;
  return (
    <Alert color="yellow" variant="light" mb="sm" role="note">
      The configuration {managed.source} manages this as {what.section}.{managed.key}. Changes here
      last until it is applied again. Change its file instead.
    </Alert>
  );
}
