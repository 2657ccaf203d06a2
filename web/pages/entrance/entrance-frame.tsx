import type { ReactNode } from "react";
import { Mark } from "../../components/mark.tsx";

/** The card in the middle of pages for people who are not in yet. */
export function EntranceFrame({
  title,
  words,
  children,
}: {
  title: string;
  words: string;
  children?: ReactNode;
}) {
  return (
    <main className="entrance">
      <div className="entrance-brand">
        <Mark state="up" size={30} />
        <b>Signalbox</b>
      </div>
      <section className="panel entrance-card">
        <h1>{title}</h1>
        <p className="quiet">{words}</p>
        {children}
      </section>
    </main>
  );
}
