import "./first.ts";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no root.");
createRoot(root).render(<App />);
