// Python on the page: the cells of a box `.tst-try` run in a worker, with numbers of the page.  They
// leave `curve`, a list of pairs from -1 to 1.  Python itself (Pyodide) lies in the book's folder.
if (typeof document === "undefined") { // the worker
  const here = new URL("vendor/pyodide/", self.location.href).href;
  importScripts(`${here}pyodide.js`);
  const loading = loadPyodide({ indexURL: here });
  self.onmessage = async ({ data }) => {
    try {
      const python = await loading;
      const names = python.toPy(data.values); // fresh ones for each run
      python.runPython(data.code, { globals: names });
      const curve = names.get("curve")?.toJs?.();
      const isPair = (pair) => pair?.length === 2 && pair.every(Number.isFinite);
      if (!Array.isArray(curve) || !curve.every(isPair))
        throw new Error("The cells leave no curve: a list of pairs of numbers.");
      self.postMessage({ curve });
    } catch (error) {
      self.postMessage({ fault: error.message.trim().split("\n").pop() });
    }
  };
} else {
  const script = document.currentScript.src;
  for (const box of document.querySelectorAll(".tst-try")) {
    const [run, stop] = box.querySelectorAll("button");
    const said = box.querySelector("output");
    const chart = box.querySelector("svg");
    let worker = null;
    const end = (words) => {
      said.textContent = words;
      run.disabled = false;
      stop.disabled = true;
    };
    const draw = (curve) => {
      chart.querySelectorAll("polyline").forEach((line) => line.classList.add("before"));
      const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
      line.setAttribute("points", curve.map(([x, y]) => `${x},${-y}`).join(" "));
      chart.append(line);
      end("The new curve is drawn; earlier ones are grey.");
    };
    const started = () => {
      const fresh = new Worker(script);
      fresh.onmessage = ({ data }) => (data.curve ? draw(data.curve) : end(data.fault));
      fresh.onerror = () => {
        worker = null; // the next click tries again
        end("Python could not be loaded.");
      };
      return fresh;
    };
    run.onclick = () => {
      run.disabled = true;
      stop.disabled = false;
      said.textContent = worker ? "Running …" : "Loading Python (12 MB) …";
      const cells = [...box.querySelectorAll("textarea")].map((cell) => cell.value);
      try {
        worker ??= started();
        worker.postMessage({ values: JSON.parse(box.dataset.values), code: cells.join("\n") });
      } catch { // browsers start no worker of a page on the disk
        end("This needs the book from a server: make serve.");
      }
    };
    stop.onclick = () => {
      worker.terminate();
      worker = null;
      end("Stopped.");
    };
    box.hidden = false;
  }
}
