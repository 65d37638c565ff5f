"""What is inside restbench, and what is known about it: SBOMs, advisories, the registries' word."""
