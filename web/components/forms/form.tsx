/** The frame of forms, with dialogs and common fields. */
import { Alert, Button, Modal, SegmentedControl } from "@mantine/core";
import {
  type KeyboardEvent,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useRef,
  useState,
  useId,
} from "react";
import { BusyButton } from "./busy-button.tsx";
import { createChunk } from "../../data/chunks.ts";
import { Confirm } from "../confirm.tsx";
import { type Action, CurlButton } from "../copy.tsx";
import { Icon } from "../display/icons.tsx";
import type { Form, Values } from "./use-form.ts";
import { t } from "../../language/text.ts";

export { type Form, useForm } from "./use-form.ts";

const ConflictDialog = lazy(createChunk(() => import("./conflict-dialog.tsx")));

type FrameProps<V extends Values> = {
  form: Form<V>;
  /** Label of the submit button. If the form publishes, it names the recipients. */
  submit: string;
  onCancel?: (() => void) | undefined;
  /** Label of the cancel button. */
  cancel?: string;
  /** Disables the submit button. */
  disabled?: boolean;
  /** Further actions, at the left of the buttons. */
  extra?: ReactNode;
  /** The equivalent request for scripts. */
  curl?: () => Action;
  /** A question to confirm before the form is sent. */
  question?: Question | null;
  children: ReactNode;
};

type Question = { title: string; verb: string; text: ReactNode };

/** The frame of every form: draft, general errors, buttons, and the choice after a conflict. */
export function FormFrame<V extends Values>(props: FrameProps<V>) {
  const { form, question = null, children } = props;
  const frame = useRef<HTMLFormElement>(null);
  const [asking, setAsking] = useState<"discard" | "send" | null>(null);
  const fieldsInSight = useInSight<HTMLDivElement>(form.otherErrors);
  useEffect(() => focusFirstField(frame.current), []);
  return (
    <form
      ref={frame}
      onSubmit={(event) => {
        event.preventDefault();
        if (question === null) void form.submit();
        else setAsking("send");
      }}
      onKeyDown={handleEnter}
      noValidate
      className="form"
    >
      {form.restored && <RestoredLine onDiscard={form.discard} />}
      {children}
      {form.otherErrors !== null && (
        <Alert color="red" variant="light" role="alert" ref={fieldsInSight}>
          {form.otherErrors}
        </Alert>
      )}
      <FormButtons {...props} onAskDiscard={() => setAsking("discard")} />
      {asking === "discard" && <DiscardConfirm {...props} onClose={() => setAsking(null)} />}
      {asking === "send" && question !== null && (
        <Confirm
          title={question.title}
          verb={question.verb}
          cancel={t("Keep editing")}
          publishes
          onClose={() => setAsking(null)}
          onConfirm={() => form.submit()}
        >
          {question.text}
        </Confirm>
      )}
      {form.hasConflict && (
        <Suspense>
          <ConflictDialog settle={form.settle} />
        </Suspense>
      )}
    </form>
  );
}

/**
 * Enter in a field with a list does not submit the form: it selects the active option, or opens the
 * list. Mantine handles the key first. With Ctrl or ⌘, Enter submits on purpose.
 */
function handleEnter(event: KeyboardEvent) {
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  const { target } = event;
  if (!(target instanceof HTMLInputElement)) return;
  if (target.getAttribute("aria-haspopup") !== "listbox") return;
  event.preventDefault();
  if (target.getAttribute("aria-expanded") !== "true") target.click();
}

const FormButtons = <V extends Values>({
  form,
  submit,
  onCancel,
  cancel = t("Cancel"),
  disabled = false,
  extra,
  curl,
  onAskDiscard,
}: FrameProps<V> & { onAskDiscard: () => void }) => (
  <div className="form-buttons">
    <div className="form-extra">
      {extra}
      {curl && <CurlButton action={curl} />}
    </div>
    {onCancel && (
      <Button
        onClick={() => (form.asksFirst && form.isDirty ? onAskDiscard() : onCancel())}
        variant="default"
      >
        {cancel}
      </Button>
    )}
    <BusyButton type="submit" variant="filled" loading={form.isBusy} disabled={disabled}>
      {submit}
    </BusyButton>
  </div>
);

const DiscardConfirm = <V extends Values>({
  form,
  onCancel,
  onClose,
}: Pick<FrameProps<V>, "form" | "onCancel"> & { onClose: () => void }) => (
  <Confirm
    title={t("Discard what you typed?")}
    verb={t("Discard")}
    cancel={t("Keep editing")}
    onClose={onClose}
    onConfirm={async () => {
      form.discard();
      onCancel?.();
    }}
  >
    {t("It is not saved yet.")}
  </Confirm>
);

const RestoredLine = ({ onDiscard }: { onDiscard: () => void }) => (
  <p className="restored" role="status">
    <span>{t("What you typed earlier is back.")}</span>
    <button type="button" className="plain-button link" onClick={onDiscard}>
      {t("Start over")}
    </button>
  </p>
);

/** Scrolls an element into view whenever its content changes. */
export function useInSight<T extends HTMLElement>(message: unknown) {
  const element = useRef<T>(null);
  useEffect(() => {
    if (message != null) element.current?.scrollIntoView({ block: "center" });
  }, [message]);
  return element;
}

const fieldSelector = "input:not([type=radio], [type=checkbox], [type=hidden]), textarea";

/** In a dialog, focuses the marked field, or the first one, unless the person has a list open in it. */
function focusFirstField(form: HTMLFormElement | null) {
  const dialog = form?.closest("[role=dialog]");
  if (form === null || dialog == null) return;
  if (dialog.querySelector("[aria-expanded=true]:focus") !== null) return;
  const first = ["[data-autofocus]", `[data-begins-here] :is(${fieldSelector})`, fieldSelector]
    .map((selector) => form.querySelector<HTMLElement>(selector))
    .find((element) => element !== null);
  // Without this attribute, the dialog focuses its close button when it opens.
  first?.setAttribute("data-autofocus", "true");
  first?.focus();
}

/** A form in a dialog. Clicks outside do not close it. */
export function FormDialog<V extends Values>({
  title,
  size = "md",
  onClose,
  ...frame
}: FrameProps<V> & { title: string; size?: number | string; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={title} size={size} closeOnClickOutside={false}>
      <FormFrame {...frame} onCancel={onClose} />
    </Modal>
  );
}

/**
 * A collapsible section of a form that most people leave unchanged. Collapsed, it shows a summary.
 * It opens if it contains an error.
 */
export function FoldedSection({
  title,
  summary,
  open: first,
  invalid,
  children,
}: {
  title: string;
  summary: string;
  open: boolean;
  invalid: boolean;
  children: ReactNode;
}) {
  const [chosen, setOpen] = useState(first);
  const id = useId();
  const open = chosen || invalid;
  const wasOpened = useRef(false);
  wasOpened.current ||= open;
  return (
    <section className="fold">
      <button type="button" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        <Icon name={open ? "down" : "right"} size={14} />
        <span>{title}</span>
        {!open && (
          <span className="fold-summary" title={summary}>
            <bdi>{summary}</bdi>
          </span>
        )}
      </button>
      <div id={id} hidden={!open}>
        {/* Rendering the hidden fields takes most of the time of a keystroke. */}
        {wasOpened.current && children}
      </div>
    </section>
  );
}

/** A choice between a few options, all visible. */
export function ChoiceField<T extends string>({
  label,
  options,
  value,
  onChange,
  hint,
}: {
  label: string;
  options: Readonly<Record<T, string>>;
  value: T;
  onChange: (value: T) => void;
  hint?: string;
}) {
  const id = useId();
  return (
    <div className="labeled flex flex-col items-start gap-4">
      <span id={id}>{label}</span>
      <SegmentedControl
        aria-labelledby={id}
        data={(Object.keys(options) as T[]).map((one) => ({ value: one, label: options[one] }))}
        value={value}
        onChange={onChange}
      />
      {hint !== undefined && <small>{hint}</small>}
    </div>
  );
}
