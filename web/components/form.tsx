import { Alert, Button, Group, Modal, SegmentedControl, Text } from "@mantine/core";
import { type ChangeEvent, type ReactNode, useEffect, useRef, useState, useId } from "react";
import { flushSync } from "react-dom";
import { ApiError } from "../data/client.ts";
import { BusyButton } from "./busy-button.tsx";
import { type Action, CurlButton } from "./copy.tsx";
import { Icon } from "./icons.tsx";

type Values = Record<string, unknown>;
type Issue = { path: string; message: string };

/** How a form stands: what was typed, what the server said of it, whether it is being saved. */
export type Form<V extends Values> = {
  values: V;
  set: <K extends keyof V & string>(name: K, value: V[K]) => void;
  replace: (values: V) => void;
  /** Begins anew from what is stored now. */
  reset: (values: V) => void;
  /** The server's words about a field and whatever is inside it. */
  errorOf: (path: string) => string | undefined;
  /** What a field of text is wired with. */
  input: <K extends keyof V & string>(
    name: K,
  ) => {
    value: V[K];
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => void;
    error: string | undefined;
  };
  /** What a field is wired with that hands over its value. */
  field: <K extends keyof V & string>(
    name: K,
  ) => { value: V[K]; onChange: (value: V[K] | null) => void; error: string | undefined };
  /** What a switch is wired with. */
  toggle: <K extends keyof V & string>(
    name: K,
  ) => {
    checked: boolean;
    onChange: (event: ChangeEvent<HTMLInputElement>) => void;
    error: string | undefined;
  };
  /** Puts what was refused at the fields that it names. */
  fail: (error: unknown) => void;
  clearErrors: () => void;
  /** What was said of no field on the page. */
  rest: string | null;
  busy: boolean;
  dirty: boolean;
  conflict: boolean;
  submit: (event?: { preventDefault(): void }) => Promise<void>;
  /** After a 412: save over the other's change, or look at it. */
  settle: (choice: "mine" | "theirs") => void;
};

const within = (path: string, field: string) =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);

/**
 * A form over the API. `save` sends the values; what it throws stands at the fields. With `force`
 * it must leave out `If-Match`: somebody else's change is overwritten on purpose.
 */
export function useForm<V extends Values>(
  initial: V,
  save: (values: V, force: boolean) => Promise<unknown>,
  onTheirs?: () => void,
): Form<V> {
  const [values, setValues] = useState(initial);
  const [issues, setIssues] = useState<readonly Issue[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [dirty, setDirty] = useState(false);
  const [conflict, setConflict] = useState(false);
  const shown = useRef(new Set<string>());

  function clearErrors() {
    setFailure(null);
    setIssues([]);
  }

  async function run(force: boolean) {
    setBusy(true);
    clearErrors();
    try {
      await save(values, force);
      setDirty(false);
      setBusy(false);
    } catch (error) {
      fail(error);
    }
  }

  function fail(error: unknown) {
    // At once, not with some next frame: the field that gets the focus must be marked by then.
    flushSync(() => {
      setBusy(false);
      if (error instanceof ApiError && error.status === 412) setConflict(true);
      else if (error instanceof ApiError && error.details.length > 0) setIssues(error.details);
      else setFailure(error instanceof Error ? error.message : String(error));
    });
    document.querySelector<HTMLElement>("form [aria-invalid=true]")?.focus();
  }

  const unplaced = issues.filter(({ path }) => ![...shown.current].some((f) => within(path, f)));
  function set<K extends keyof V & string>(name: K, value: V[K]) {
    setDirty(true);
    setValues((current) => ({ ...current, [name]: value }));
    setIssues((current) => current.filter(({ path }) => !within(path, name)));
  }
  function errorOf(path: string) {
    shown.current.add(path);
    const found = issues.find((issue) => within(issue.path, path));
    return found && sentence(found.message);
  }
  return {
    values,
    set,
    replace: setValues,
    reset(next) {
      setValues(next);
      clearErrors();
      setDirty(false);
    },
    errorOf,
    input: (name) => ({
      value: values[name],
      onChange: ({ currentTarget }) => set(name, currentTarget.value as V[typeof name]),
      error: errorOf(name),
    }),
    field: (name) => ({
      value: values[name],
      onChange: (value) => set(name, value as V[typeof name]),
      error: errorOf(name),
    }),
    toggle: (name) => ({
      checked: values[name] === true,
      onChange: ({ currentTarget }) => set(name, currentTarget.checked as V[typeof name]),
      error: errorOf(name),
    }),
    fail,
    clearErrors,
    rest: failure ?? (unplaced.map(({ path, message }) => `${path} ${message}.`).join(" ") || null),
    busy,
    dirty,
    conflict,
    async submit(event) {
      event?.preventDefault();
      if (!busy) await run(false);
    },
    settle(choice) {
      setConflict(false);
      if (choice === "mine") void run(true);
      else onTheirs?.();
    },
  };
}

/** `must have at most 255 characters` as a sentence of its own. */
function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`.replace(/\.\.$/, ".");
}

type FrameProps<V extends Values> = {
  form: Form<V>;
  /** The verb on the button. */
  submit: string;
  onCancel?: (() => void) | undefined;
  /** What cancelling is called. */
  cancel?: string;
  /** There is nothing to save. */
  disabled?: boolean;
  /** Further actions, at the left of the buttons. */
  extra?: ReactNode;
  /** The same for a script. */
  curl?: () => Action;
  children: ReactNode;
};

/** The frame of every form: what has no field of its own, the buttons, and the choice after a 412. */
export function FormFrame<V extends Values>({
  form,
  submit,
  onCancel,
  cancel = "Cancel",
  disabled = false,
  extra,
  curl,
  children,
}: FrameProps<V>) {
  const frame = useRef<HTMLFormElement>(null);
  useEffect(() => focusFirst(frame.current), []);
  return (
    <form ref={frame} onSubmit={(event) => void form.submit(event)} noValidate className="form">
      {children}
      {form.rest !== null && (
        <Alert color="red" variant="light" role="alert">
          {form.rest}
        </Alert>
      )}
      <div className="form-buttons">
        <div className="form-extra">
          {extra}
          {curl && <CurlButton action={curl} />}
        </div>
        {onCancel && (
          <Button onClick={onCancel} variant="default">
            {cancel}
          </Button>
        )}
        <BusyButton type="submit" variant="filled" loading={form.busy} disabled={disabled}>
          {submit}
        </BusyButton>
      </div>
      <ConflictDialog form={form} />
    </form>
  );
}

const fields = "input:not([type=radio], [type=checkbox], [type=hidden]), textarea";

/** In a dialog one begins to type at once: where the form says so, or in its first field. */
function focusFirst(form: HTMLFormElement | null) {
  if (form === null || form.closest("[role=dialog]") === null) return;
  const first = ["[data-autofocus]", `[data-begins-here] :is(${fields})`, fields]
    .map((selector) => form.querySelector<HTMLElement>(selector))
    .find((element) => element !== null);
  // The dialog looks for it once it is open, and takes its close button where there is none.
  first?.setAttribute("data-autofocus", "true");
  first?.focus();
}

/** A form in a dialog, which no click beside it closes. */
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

function ConflictDialog<V extends Values>({ form }: { form: Form<V> }) {
  return (
    <Modal
      opened={form.conflict}
      onClose={() => form.settle("theirs")}
      title="Someone else changed this"
      centered
    >
      <Text size="sm" mb="md">
        Someone saved a change after you opened this. Save your version over theirs, or load theirs
        and lose what you typed.
      </Text>
      <Group justify="flex-end" gap={8}>
        <Button onClick={() => form.settle("theirs")}>Load theirs</Button>
        <Button variant="filled" onClick={() => form.settle("mine")}>
          Save mine
        </Button>
      </Group>
    </Modal>
  );
}

/** A part of a form that most people leave as it is; opens by itself when something in it is wrong. */
export function Fold({
  title,
  open: first,
  invalid,
  children,
}: {
  title: string;
  open: boolean;
  invalid: boolean;
  children: ReactNode;
}) {
  const [chosen, setOpen] = useState(first);
  const id = useId();
  const open = chosen || invalid;
  return (
    <section className="fold">
      <button type="button" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        <Icon name={open ? "down" : "right"} size={14} />
        {title}
      </button>
      <div id={id} hidden={!open}>
        {children}
      </div>
    </section>
  );
}

/** A choice of few, all in sight. */
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
    <div className="labelled">
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
