import { type ReactNode, useId, useState } from "react";
import { Icon } from "./icons.tsx";

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
