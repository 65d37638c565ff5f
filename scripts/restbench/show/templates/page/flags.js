// A mark tells its meaning under the pointer; it stands in the page once, where its link leads.
for (const flag of document.querySelectorAll("a.flag"))
  flag.title = document.getElementById(flag.hash.slice(1)).nextElementSibling.textContent;
