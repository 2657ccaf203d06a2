/** The field that creates a monitor from an address. */
import { type Ref, useState } from "react";
import { createStore } from "../../../data/store.ts";
import { ApiError } from "../../../data/client.ts";
import { drafts } from "../../../data/drafts.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { openDialog } from "../../../components/open-dialog.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Mark } from "../../../components/display/mark.tsx";
import { EmptyState } from "../../../components/page.tsx";
import { addMonitor } from "../actions.ts";
import { describeCheck, parseTarget } from "../quick-add.ts";
import { t } from "../../../language/text.ts";

/**
 * Typed text and its error. Stored outside the field, which moves to another position on the page.
 */
const draft = createStore<{ text: string; issue: string | null }>({ text: "", issue: null });
const draftKey = "quick-add";

function storeDraft(text: string, issue: string | null = null) {
  draft.set({ text, issue });
  drafts.write(draftKey, text === "" ? {} : { text });
}

/** Restores the text after a reload. */
function restoreDraft() {
  const { text } = drafts.read(draftKey) ?? {};
  if (typeof text === "string" && draft.get().text === "") draft.set({ text, issue: null });
}

function describeError(error: unknown): string {
  const [detail] = error instanceof ApiError ? error.details : [];
  return detail ? `${detail.path} ${detail.message}.` : String((error as Error).message);
}

type Props = {
  field: Ref<HTMLInputElement>;
  onClose?: () => void;
  /** Called before the request is sent. */
  onAdding?: () => void;
};

/** Creates a monitor from a pasted address. All other settings have defaults. */
export function QuickAdd({ field, onClose, onAdding }: Props) {
  useState(restoreDraft);
  const { text, issue } = draft.use();
  const [isBusy, setIsBusy] = useState(false);
  const target = parseTarget(text);
  const setIssue = (issue: string) => draft.set({ ...draft.get(), issue });

  async function submit(event: React.FormEvent) {
    event.preventDefault();
    if (target === null)
      return setIssue(
        t("Paste a URL such as https://shop.example, a host:port, or an IP address."),
      );
    setIsBusy(true);
    storeDraft("");
    onAdding?.();
    try {
      await addMonitor(target);
      onClose?.();
    } catch (error) {
      storeDraft(text, describeError(error));
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <form className="quick" onSubmit={(event) => void submit(event)}>
      <div className={`quick-box ${issue === null ? "" : "quick-bad"}`}>
        <Icon name="link" />
        <input
          ref={field}
          autoFocus
          aria-label={t("Address to monitor")}
          aria-invalid={issue !== null}
          aria-describedby="quick-words"
          placeholder="https://shop.example"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          inputMode="url"
          value={text}
          onChange={({ currentTarget }) => storeDraft(currentTarget.value)}
          onKeyDown={({ key }) => key === "Escape" && onClose?.()}
        />
        <BusyButton type="submit" variant="filled" loading={isBusy}>
          {t("Add")}
        </BusyButton>
      </div>
      <p className="quick-words" id="quick-words" aria-live="polite">
        <span className={issue === null ? "" : "down"}>
          {issue ??
            (target === null
              ? t("A URL, host:port or IP address, then Enter.")
              : describeCheck(target))}
        </span>
        <MoreTypes onOpen={onClose} />
      </p>
    </form>
  );
}

const MoreTypes = ({ onOpen }: { onOpen: (() => void) | undefined }) => (
  <button
    type="button"
    className="link"
    onClick={() => {
      onOpen?.();
      openDialog({ kind: "create-monitor" });
    }}
  >
    {t("More types and options")}
  </button>
);

/** The Monitors page of an organization without monitors. */
export function FirstMonitor(props: Props) {
  const { mayWrite } = useSignedInPerson();
  return (
    <section className="panel first">
      <EmptyState
        icon={<Mark state="up" size={36} />}
        title={mayWrite ? t("What do you want to monitor?") : t("No monitors yet")}
        action={mayWrite && <QuickAdd {...props} />}
      >
        {mayWrite
          ? t(
              "Paste the address of a website, an intranet page or a router. It is checked at once, and then every minute.",
            )
          : t("Monitors are shown here as soon as someone adds one.")}
      </EmptyState>
    </section>
  );
}
