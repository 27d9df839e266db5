import { render } from "preact";
import { App } from "./app";
import "./style/base.css";
import "./style/parts.css";
import "./style/playground.css";
import "./style/pages.css";

const root = document.getElementById("app");
if (root) render(<App />, root);
