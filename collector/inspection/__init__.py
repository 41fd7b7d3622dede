"""Looking without touching: doctor, status and preview. They read and report, and change nothing."""
