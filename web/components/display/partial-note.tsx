import { useSignedInPerson } from "../../data/session.ts";

/** Says why someone who may write can't change a record that also concerns monitors of other groups. */
export function PartialNote({ what, partial }: { what: string; partial?: true | undefined }) {
  const { mayWrite } = useSignedInPerson();
  if (partial !== true || !mayWrite) return null;
  return (
    <p className="quiet panel-words">
      {what} also concerns monitors outside of your groups. You can read it, but not change it.
    </p>
  );
}
