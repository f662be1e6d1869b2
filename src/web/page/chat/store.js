// Keeps conversations in this browser (IndexedDB). They never leave it, but in requests to the
// model and in files that the user saves.

const NAME = "rapt";
const TABLE = "conversations";

let database = null;

function open() {
  database ??= new Promise((resolve, reject) => {
    const opening = indexedDB.open(NAME, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(TABLE, { keyPath: "id" });
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  return database;
}

async function run(mode, act) {
  const transaction = (await open()).transaction(TABLE, mode);
  const request = act(transaction.objectStore(TABLE));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result);
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}

// Newest first.
export async function loadAll() {
  const all = await run("readonly", (table) => table.getAll());
  return all.sort((a, b) => b.updated - a.updated);
}

export function save(conversation) {
  return run("readwrite", (table) => table.put(conversation));
}

export function remove(id) {
  return run("readwrite", (table) => table.delete(id));
}
