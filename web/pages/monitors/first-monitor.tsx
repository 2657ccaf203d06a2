import { useSignedIn } from "../../data/session.ts";
import { EmptyState } from "../../components/page.tsx";
import { Mark } from "../../components/mark.tsx";
import { QuickAdd } from "./quick-add-field.tsx";

/** The page before there is anything on it. */
export function FirstMonitor() {
  const { mayWrite } = useSignedIn();
  return (
    <section className="panel first">
      <EmptyState
        icon={<Mark state="up" size={36} />}
        title={mayWrite ? "What do you want to monitor?" : "No monitors yet"}
        action={mayWrite && <QuickAdd />}
      >
        {mayWrite
          ? "Paste the address of a website, an intranet page or a router. It is checked at once, and then every minute."
          : "Monitors are shown here as soon as someone adds one."}
      </EmptyState>
    </section>
  );
}
